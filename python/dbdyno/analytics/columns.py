"""The 109 columns of the on-time performance files of the Bureau of Transportation Statistics, in their order."""

from dbdyno.analytics.table import Column, Table

TABLE = "dbdyno_ontime"


def _text(length: int, *names: str) -> list[Column]:
    return [Column(name, "text", length) for name in names]


def _integers(names: str) -> list[Column]:
    return [Column(name, "integer") for name in names.split()]


def _airport(end: str) -> list[Column]:
    """Return the nine columns of where a flight begins or ends."""
    return [
        *_integers(f"{end}AirportID {end}AirportSeqID {end}CityMarketID"),
        *_text(5, end),
        *_text(50, f"{end}CityName"),
        *_text(2, f"{end}State", f"{end}StateFips"),
        *_text(50, f"{end}StateName"),
        *_integers(f"{end}Wac"),
    ]


def _diversion(number: int) -> list[Column]:
    """Return the eight columns of one airport a flight was diverted to."""
    head = f"Div{number}"
    return [
        *_text(5, f"{head}Airport"),
        *_integers(
            f"{head}AirportID {head}AirportSeqID {head}WheelsOn {head}TotalGTime {head}LongestGTime {head}WheelsOff"
        ),
        *_text(10, f"{head}TailNum"),
    ]


COLUMNS: tuple[Column, ...] = (
    *_integers("Year Quarter Month DayofMonth DayOfWeek"),
    Column("FlightDate", "date"),
    *_text(10, "Reporting_Airline"),
    *_integers("DOT_ID_Reporting_Airline"),
    *_text(10, "IATA_CODE_Reporting_Airline", "Tail_Number", "Flight_Number_Reporting_Airline"),
    *_airport("Origin"),
    *_airport("Dest"),
    *_integers("CRSDepTime DepTime DepDelay DepDelayMinutes DepDel15 DepartureDelayGroups"),
    *_text(9, "DepTimeBlk"),
    *_integers("TaxiOut WheelsOff WheelsOn TaxiIn CRSArrTime ArrTime ArrDelay ArrDelayMinutes"),
    *_integers("ArrDel15 ArrivalDelayGroups"),
    *_text(9, "ArrTimeBlk"),
    *_integers("Cancelled"),
    *_text(1, "CancellationCode"),
    *_integers("Diverted CRSElapsedTime ActualElapsedTime AirTime Flights Distance DistanceGroup"),
    *_integers("CarrierDelay WeatherDelay NASDelay SecurityDelay LateAircraftDelay"),
    *_integers("FirstDepTime TotalAddGTime LongestAddGTime"),
    *_integers("DivAirportLandings DivReachedDest DivActualElapsedTime DivArrDelay DivDistance"),
    *(column for number in range(1, 6) for column in _diversion(number)),
)

FLIGHTS = Table(TABLE, COLUMNS)

EARLIER_NAMES = {
    "UniqueCarrier": "Reporting_Airline",
    "AirlineID": "DOT_ID_Reporting_Airline",
    "Carrier": "IATA_CODE_Reporting_Airline",
    "TailNum": "Tail_Number",
    "FlightNum": "Flight_Number_Reporting_Airline",
}
"""The names of five columns in files from before 2018."""
