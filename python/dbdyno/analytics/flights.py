"""Generated flights of a month, in the format of the real files: a function of the seed and the month.

Columns that follow from one another are written together. A day, an airport, a delay with its groups: each is one piece
of text, chosen by number from a table of all there are. A row is the pieces joined. Writing each of the 109
columns by itself cost 4 µs a row (pyarrow's CSV writer: 38 ns a whole number, 54 ns one with decimals).
"""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbdyno.analytics.columns import COLUMNS
from dbdyno.analytics.months import Month
from dbdyno.analytics.places import AIRPORTS, CARRIERS, STATES, Airport, distance_miles

CHUNK_ROWS = 50_000
"""Rows made at once: what bounds memory."""
MINUTES = 1440
DELAYS = (-90, 1999)
"""The least and the greatest delay, in minutes."""
LONGEST = 1999
"""The longest time there is, in minutes."""
TAILS = 200
"""Aeroplanes of an airline."""
FLIGHT_NUMBERS = 7999
CAUSES_SINCE, TAILS_SINCE, DIVERSIONS_SINCE = 200306, 199501, 200810
"""From when on the files have the causes of delays, aeroplanes and taxi times, and where a diverted flight went."""

_BY_HOUR = np.array([3, 1, 1, 1, 1, 12, 55, 64, 65, 62, 62, 62, 60, 61, 60, 60, 62, 66, 62, 58, 48, 36, 22, 10], float)
_BY_WEEKDAY = np.array([1.03, 1.0, 1.02, 1.04, 1.05, 0.86, 0.97])
_LATE_BY_MONTH = (1.1, 1.05, 1.0, 0.9, 0.95, 1.2, 1.25, 1.1, 0.75, 0.8, 0.85, 1.25)
_NO_DIVERSION = ",".join('""' if column.kind == "text" else "" for column in COLUMNS[69:])

Numbers = np.ndarray


def header() -> bytes:
    """Return the first line of a file; it ends with a comma, as the real ones do, and so does every row."""
    return (",".join(f'"{column.name}"' for column in COLUMNS) + ",\n").encode()


def write_file(path: Path, seed: int, months: list[Month]) -> None:
    """Write the flights of some months; raises OSError if that cannot be done. Memory is that of one chunk."""
    with path.open("wb") as file:
        file.write(header())
        for month in months:
            for begin in range(0, month.rows, CHUNK_ROWS):
                random = np.random.default_rng((seed, month.year, month.month, begin // CHUNK_ROWS))
                file.write(_chunk(random, month, min(CHUNK_ROWS, month.rows - begin)))


def _chunk(random: np.random.Generator, month: Month, rows: int) -> memoryview:
    """Return the text of so many rows, in the order of airline, flight number and day."""
    pieces = _pieces(_fly(random, month, rows), month)
    end, separator = (pa.scalar(text, pa.large_string()) for text in ("\n", ","))
    lines = pc.binary_join_element_wise(*pieces, end, separator)
    text = memoryview(lines.buffers()[2])
    first, last = np.frombuffer(lines.buffers()[1], np.int64)[[lines.offset, lines.offset + rows]]
    return text[first:last]


@dataclass(frozen=True)
class _Flights:
    """Flights, one element each; times in minutes of the day, lengths in minutes, -1 if there is none."""

    day: Numbers
    carrier: Numbers
    tail: Numbers
    number: Numbers
    origin: Numbers
    dest: Numbers
    distance: Numbers
    planned_departure: Numbers
    planned_minutes: Numbers
    departure_delay: Numbers
    arrival_delay: Numbers
    taxi_out: Numbers
    taxi_in: Numbers
    air_minutes: Numbers
    cancelled: Numbers
    reason: Numbers
    diverted: Numbers
    diverted_to: Numbers
    causes: Numbers


def _fly(random: np.random.Generator, month: Month, rows: int) -> _Flights:
    carrier = np.sort(_choose(random, _carrier_weights(month), rows))
    number = 1 + (random.random(rows) ** 1.5 * FLIGHT_NUMBERS).astype(np.int64)
    day = _choose(random, _day_weights(month), rows)
    order = np.lexsort((day, number, carrier))
    number, day = number[order], day[order]
    origin, dest = _route(random, rows)
    distance = _distances()[origin, dest]
    planned_departure = _choose(random, _BY_HOUR, rows) * 60 + random.integers(0, 12, rows) * 5
    taxi_out = np.minimum(4 + random.gamma(2.5, 4.8, rows).astype(np.int64), 180)
    taxi_in = np.minimum(2 + random.gamma(2.0, 2.5, rows).astype(np.int64), 120)
    usual = 18 + distance / 7.6
    planned_minutes = (usual + 22).astype(np.int64)
    air = np.maximum(12, usual * random.normal(1.0, 0.05, rows)).astype(np.int64)
    departure_delay = _departure_delay(random, month, carrier, planned_departure)
    arrival_delay = np.clip(departure_delay + taxi_out + air + taxi_in - planned_minutes, *DELAYS)
    winter = 1.6 if month.month in (12, 1, 2) else 0.8
    cancelled = random.random(rows) < 0.016 * winter
    diverted = (random.random(rows) < 0.0022) & ~cancelled
    return _Flights(
        day, carrier, random.integers(0, TAILS, rows), number, origin, dest, distance, planned_departure,
        planned_minutes, departure_delay, arrival_delay, taxi_out, taxi_in, air, cancelled,
        _choose(random, np.array([40.0, 38.0, 21.0, 0.2]), rows), diverted,
        (dest + 1 + random.integers(0, len(AIRPORTS) - 1, rows)) % len(AIRPORTS),
        _causes(random, arrival_delay),
    )  # fmt: skip


def _choose(random: np.random.Generator, weights: Numbers, rows: int) -> Numbers:
    """Draw places in `weights`, each as often as its weight says."""
    steps = np.cumsum(weights)
    places: Numbers = np.searchsorted(steps, random.random(rows) * steps[-1], side="right")
    return places


def _carrier_weights(month: Month) -> Numbers:
    at = month.year * 100 + month.month
    return np.array([carrier.weight if carrier.first <= at <= carrier.last else 0.0 for carrier in CARRIERS])


def _day_weights(month: Month) -> Numbers:
    first = calendar.weekday(month.year, month.month, 1)
    return _BY_WEEKDAY[(first + np.arange(month.days)) % 7]


def _route(random: np.random.Generator, rows: int) -> tuple[Numbers, Numbers]:
    """Draw two airports that differ: traffic falls with an airport's rank, a little faster than its reciprocal."""
    weights = 1.0 / (np.arange(len(AIRPORTS)) + 3) ** 1.1
    origin, dest = _choose(random, weights, rows), _choose(random, weights, rows)
    same = origin == dest
    dest[same] = (origin[same] + random.integers(1, len(AIRPORTS), same.sum())) % len(AIRPORTS)
    return origin, dest


def _departure_delay(random: np.random.Generator, month: Month, carrier: Numbers, departure: Numbers) -> Numbers:
    """Most flights leave a little early; the later in the day, the more do not, and those have a long tail."""
    rows = len(carrier)
    habit = 0.75 + 0.5 * ((np.arange(len(CARRIERS)) * 7) % 11) / 10
    chance = (0.09 + 0.17 * departure / MINUTES) * 1.35 * _LATE_BY_MONTH[month.month - 1] * habit[carrier]
    early = np.floor(random.normal(-2.5, 3.5, rows))
    late = np.floor(random.lognormal(3.0, 1.1, rows))
    return np.clip(np.where(random.random(rows) < chance, late, early), *DELAYS).astype(np.int64)


def _causes(random: np.random.Generator, delay: Numbers) -> Numbers:
    """Divide each delay among its five causes, (5, rows); security is hardly ever one."""
    parts = random.random((5, len(delay))) ** 3
    parts[3] *= random.random(len(delay)) < 0.002
    parts[:4] = np.floor(parts[:4] / (parts.sum(axis=0) + 1e-9) * np.maximum(delay, 0))
    parts[4] = np.maximum(delay, 0) - parts[:4].sum(axis=0)
    return parts.astype(np.int64)


def _pieces(flew: _Flights, month: Month) -> list[pa.Array]:
    """Return the columns, or groups of them, in the order of the files."""
    at = month.year * 100 + month.month
    gone, landed = ~flew.cancelled, ~flew.cancelled & ~flew.diverted
    departure = flew.planned_departure + flew.departure_delay
    wheels_off, arrival = departure + flew.taxi_out, flew.planned_departure + flew.planned_minutes
    arrived = arrival + flew.arrival_delay
    elapsed = flew.taxi_out + flew.air_minutes + flew.taxi_in
    has_taxi = np.full(len(gone), at >= TAILS_SINCE)
    late = landed & (flew.arrival_delay >= 15) & (at >= CAUSES_SINCE)
    return [
        _days(month).take(pa.array(flew.day)),
        _carriers().take(pa.array(flew.carrier)),
        _pick(_tails(), flew.carrier * TAILS + flew.tail, has_taxi),
        _flight_numbers().take(pa.array(flew.number)),
        _airports().take(pa.array(flew.origin)),
        _airports().take(pa.array(flew.dest)),
        _clock(flew.planned_departure),
        _clock(departure, gone),
        _pick(_delays(), flew.departure_delay - DELAYS[0], gone),
        _blocks().take(pa.array(flew.planned_departure // 60)),
        _pick(_minutes(), flew.taxi_out, gone & has_taxi),
        _clock(wheels_off, gone & has_taxi),
        _clock(wheels_off + flew.air_minutes, landed & has_taxi),
        _pick(_minutes(), flew.taxi_in, landed & has_taxi),
        _clock(arrival),
        _clock(arrived, landed),
        _pick(_delays(), flew.arrival_delay - DELAYS[0], landed),
        _blocks().take(pa.array(arrival % MINUTES // 60)),
        _ends().take(pa.array(np.where(flew.cancelled, 2 + flew.reason, flew.diverted))),
        _pick(_minutes(), flew.planned_minutes, np.full(len(gone), True)),
        _pick(_minutes(), elapsed, landed),
        _pick(_minutes(), flew.air_minutes, landed & has_taxi),
        _lengths().take(pa.array(flew.distance)),
        *(_pick(_minutes(), cause, late) for cause in flew.causes),
        _diversions(flew, at),
    ]


def _texts(texts: list[str], none: str = "") -> pa.Array:
    """Return a table of pieces; the last one stands for none."""
    return pa.array([*texts, none], pa.large_string())


def _pick(texts: pa.Array, places: Numbers, there: Numbers) -> pa.Array:
    """Choose from a table of pieces by place, and its last one if nothing is there."""
    return texts.take(pa.array(np.where(there, places, len(texts) - 1)))


def _clock(minutes: Numbers, there: Numbers | None = None) -> pa.Array:
    """Return times of the day as the files have them, `"0925"`; midnight is `"2400"`."""
    places = minutes % MINUTES
    return _clocks().take(pa.array(places if there is None else np.where(there, places, MINUTES)))


@cache
def _clocks() -> pa.Array:
    times = [f'"{minute // 60:02d}{minute % 60:02d}"' for minute in range(MINUTES)]
    return _texts(['"2400"', *times[1:]], '""')


@cache
def _minutes() -> pa.Array:
    return _texts([f"{minutes}.00" for minutes in range(LONGEST + 1)])


@cache
def _delays() -> pa.Array:
    """Return a delay, the delay without what is early, whether it is 15 minutes or more, and its quarter of an hour."""
    return _texts(
        [
            f"{delay}.00,{max(0, delay)}.00,{int(delay >= 15)}.00,{min(12, max(-2, delay // 15))}"
            for delay in range(DELAYS[0], DELAYS[1] + 1)
        ],
        ",,,",
    )


@cache
def _blocks() -> pa.Array:
    """Return the hours of the day as the files have them; those before six are one."""
    return pa.array(
        [f'"{hour:02d}00-{hour:02d}59"' if hour > 5 else '"0001-0559"' for hour in range(24)], pa.large_string()
    )


@cache
def _ends() -> pa.Array:
    """Return how a flight ended: as planned, diverted, or cancelled for reason A to D."""
    return pa.array(['0.00,"",0.00', '0.00,"",1.00', *(f'1.00,"{code}",0.00' for code in "ABCD")], pa.large_string())


@cache
def _lengths() -> pa.Array:
    longest = int(_distances().max())
    return pa.array([f"1.00,{miles}.00,{min(11, miles // 250 + 1)}" for miles in range(longest + 1)], pa.large_string())


@cache
def _distances() -> Numbers:
    return np.array([[distance_miles(airport, other) for other in AIRPORTS] for airport in AIRPORTS])


@cache
def _carriers() -> pa.Array:
    return pa.array([f'"{carrier.code}",{carrier.number},"{carrier.code}"' for carrier in CARRIERS], pa.large_string())


@cache
def _tails() -> pa.Array:
    return _texts([f'"N{100 + number}{carrier.code}"' for carrier in CARRIERS for number in range(TAILS)], '""')


@cache
def _flight_numbers() -> pa.Array:
    return pa.array([f'"{number}"' for number in range(FLIGHT_NUMBERS + 1)], pa.large_string())


def _number(index: int) -> int:
    """Return the number of an airport: unique, of the size of the real ones, but not these."""
    return 10135 + 61 * index


def _airport(index: int, airport: Airport) -> str:
    fips, name, wac = STATES[airport.state]
    number = _number(index)
    city = f'"{airport.code}","{airport.city}, {airport.state}","{airport.state}","{fips}","{name}",{wac}'
    return f"{number},{number * 100 + 1},{30000 + number},{city}"


@cache
def _airports() -> pa.Array:
    return pa.array([_airport(index, airport) for index, airport in enumerate(AIRPORTS)], pa.large_string())


def _days(month: Month) -> pa.Array:
    days = [date(month.year, month.month, day) for day in range(1, month.days + 1)]
    texts = [
        f"{day.year},{(day.month + 2) // 3},{day.month},{day.day},{day.isoweekday()},{day.isoformat()}" for day in days
    ]
    return pa.array(texts, pa.large_string())


def _diversions(flew: _Flights, at: int) -> pa.Array:
    """Return the last 48 columns: nearly always empty, so that what is not is written one by one."""
    none = f'"",,,{"0" if at >= DIVERSIONS_SINCE else ""},,,,,{_NO_DIVERSION}'
    texts, places = [none], np.zeros(len(flew.day), np.int64)
    for row in np.flatnonzero(flew.diverted) if at >= DIVERSIONS_SINCE else ():
        places[row] = len(texts)
        to = int(flew.diverted_to[row])
        landed = int(flew.planned_departure[row] + flew.departure_delay[row] + flew.air_minutes[row]) % MINUTES
        off = (landed + 75) % MINUTES
        clock = [f'"{minute // 60:02d}{minute % 60:02d}"' for minute in (landed, off)]
        reached = f'"",,,1,1.00,{flew.air_minutes[row] + 180}.00,{max(0, flew.arrival_delay[row]) + 150}.00,0.00'
        tail = f'"N{100 + flew.tail[row]}{CARRIERS[flew.carrier[row]].code}"'
        number = _number(to)
        first = f'"{AIRPORTS[to].code}",{number},{number * 100 + 1},{clock[0]},75.00,75.00,{clock[1]},{tail}'
        texts.append(f"{reached},{first},{_NO_DIVERSION.split(',', 8)[8]}")
    return pa.array(texts, pa.large_string()).take(pa.array(places))
