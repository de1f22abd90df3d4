"""Airlines and airports of generated flights: real codes, rounded facts, traffic in about the real proportions."""

from dataclasses import dataclass
from math import asin, cos, radians, sin, sqrt

EARTH_RADIUS_MILES = 3959


@dataclass(frozen=True)
class Carrier:
    """An airline that reports from month `first` to month `last`, both as year × 100 + month; weight: its flights."""

    code: str
    number: int
    first: int
    last: int
    weight: float


@dataclass(frozen=True)
class Airport:
    """An airport; its place in AIRPORTS is its rank by traffic."""

    code: str
    city: str
    state: str
    latitude: float
    longitude: float


_ALWAYS = 999912

CARRIERS = tuple(
    Carrier(code, int(number), int(first), int(last) if last != "-" else _ALWAYS, float(weight))
    for code, number, first, last, weight in (
        line.split()
        for line in """\
AA 19805 198710 - 12
AS 19930 198710 - 2.5
CO 19704 198710 201112 6
DL 19790 198710 - 12
EA 19391 198710 199101 5
HP 19991 198710 200509 3
NW 19386 198710 200912 7
PA 20384 198710 199111 1.5
PI 19982 198710 198907 6
PS 19994 198710 198803 1.5
TW 20211 198710 200111 4
UA 19977 198710 - 9
US 20355 198710 201506 9
WN 19393 198710 - 14
ML 20008 199101 199111 1.5
AQ 19678 200101 200803 0.5
MQ 20398 200101 - 6
B6 20409 200301 - 3.5
DH 20225 200301 200512 3
EV 20366 200301 202009 6
FL 20437 200301 201406 3.5
HA 19690 200301 - 1
OH 20397 200301 - 3.5
OO 20304 200301 - 9
TZ 20312 200301 200610 0.8
XE 20374 200301 201112 6
F9 20436 200505 - 1.6
YV 20378 200601 - 3
9E 20363 200701 - 3.5
VX 21171 201201 201803 1
NK 20416 201501 - 3
G4 20368 201801 - 1.6
YX 20452 201801 - 5""".splitlines()
    )
)

AIRPORTS = tuple(
    Airport(code, city, state, float(latitude), float(longitude))
    for code, city, state, latitude, longitude in (
        line.split("|")
        for line in """\
ATL|Atlanta|GA|33.6|-84.4
ORD|Chicago|IL|42.0|-87.9
DFW|Dallas/Fort Worth|TX|32.9|-97.0
DEN|Denver|CO|39.9|-104.7
LAX|Los Angeles|CA|33.9|-118.4
PHX|Phoenix|AZ|33.4|-112.0
IAH|Houston|TX|30.0|-95.3
LAS|Las Vegas|NV|36.1|-115.2
DTW|Detroit|MI|42.2|-83.4
MSP|Minneapolis|MN|44.9|-93.2
CLT|Charlotte|NC|35.2|-80.9
SFO|San Francisco|CA|37.6|-122.4
EWR|Newark|NJ|40.7|-74.2
BOS|Boston|MA|42.4|-71.0
SEA|Seattle|WA|47.4|-122.3
SLC|Salt Lake City|UT|40.8|-112.0
LGA|New York|NY|40.8|-73.9
MCO|Orlando|FL|28.4|-81.3
STL|St. Louis|MO|38.7|-90.4
PHL|Philadelphia|PA|39.9|-75.2
BWI|Baltimore|MD|39.2|-76.7
DCA|Washington|VA|38.9|-77.0
CVG|Cincinnati|OH|39.0|-84.7
MDW|Chicago|IL|41.8|-87.8
JFK|New York|NY|40.6|-73.8
SAN|San Diego|CA|32.7|-117.2
MIA|Miami|FL|25.8|-80.3
TPA|Tampa|FL|28.0|-82.5
PIT|Pittsburgh|PA|40.5|-80.2
IAD|Washington|VA|38.9|-77.5
CLE|Cleveland|OH|41.4|-81.8
OAK|Oakland|CA|37.7|-122.2
PDX|Portland|OR|45.6|-122.6
FLL|Fort Lauderdale|FL|26.1|-80.2
MEM|Memphis|TN|35.0|-90.0
BNA|Nashville|TN|36.1|-86.7
HOU|Houston|TX|29.6|-95.3
SJC|San Jose|CA|37.4|-121.9
DAL|Dallas|TX|32.8|-96.9
MCI|Kansas City|MO|39.3|-94.7
SMF|Sacramento|CA|38.7|-121.6
RDU|Raleigh/Durham|NC|35.9|-78.8
SNA|Santa Ana|CA|33.7|-117.9
AUS|Austin|TX|30.2|-97.7
MSY|New Orleans|LA|30.0|-90.3
IND|Indianapolis|IN|39.7|-86.3
SAT|San Antonio|TX|29.5|-98.5
HNL|Honolulu|HI|21.3|-157.9
MKE|Milwaukee|WI|42.9|-87.9
CMH|Columbus|OH|40.0|-82.9
ABQ|Albuquerque|NM|35.0|-106.6
BDL|Hartford|CT|41.9|-72.7
ONT|Ontario|CA|34.1|-117.6
BUR|Burbank|CA|34.2|-118.4
SJU|San Juan|PR|18.4|-66.0
JAX|Jacksonville|FL|30.5|-81.7
PBI|West Palm Beach|FL|26.7|-80.1
RNO|Reno|NV|39.5|-119.8
BUF|Buffalo|NY|42.9|-78.7
OMA|Omaha|NE|41.3|-95.9
TUS|Tucson|AZ|32.1|-110.9
OKC|Oklahoma City|OK|35.4|-97.6
OGG|Kahului|HI|20.9|-156.4
ANC|Anchorage|AK|61.2|-150.0
TUL|Tulsa|OK|36.2|-95.9
RIC|Richmond|VA|37.5|-77.3
SDF|Louisville|KY|38.2|-85.7
ELP|El Paso|TX|31.8|-106.4
ORF|Norfolk|VA|36.9|-76.2
PVD|Providence|RI|41.7|-71.4
BHM|Birmingham|AL|33.6|-86.8
BOI|Boise|ID|43.6|-116.2
GEG|Spokane|WA|47.6|-117.5
LIT|Little Rock|AR|34.7|-92.2
CHS|Charleston|SC|32.9|-80.0
GRR|Grand Rapids|MI|42.9|-85.5
DSM|Des Moines|IA|41.5|-93.7
ALB|Albany|NY|42.7|-73.8
SYR|Syracuse|NY|43.1|-76.1
JAN|Jackson|MS|32.3|-90.1
ICT|Wichita|KS|37.6|-97.4
MHT|Manchester|NH|42.9|-71.4
PWM|Portland|ME|43.6|-70.3
BTV|Burlington|VT|44.5|-73.2
FSD|Sioux Falls|SD|43.6|-96.7
FAR|Fargo|ND|46.9|-96.8
BIL|Billings|MT|45.8|-108.5
FAI|Fairbanks|AK|64.8|-147.9
JAC|Jackson|WY|43.6|-110.7
CRW|Charleston|WV|38.4|-81.6
STT|Charlotte Amalie|VI|18.3|-65.0
JNU|Juneau|AK|58.4|-134.6""".splitlines()
    )
)

STATES = {
    code: (fips, name, int(wac))
    for code, fips, name, wac in (
        line.split("|")
        for line in """\
AK|02|Alaska|1
AL|01|Alabama|51
AR|05|Arkansas|71
AZ|04|Arizona|81
CA|06|California|91
CO|08|Colorado|82
CT|09|Connecticut|11
FL|12|Florida|33
GA|13|Georgia|34
HI|15|Hawaii|2
IA|19|Iowa|61
ID|16|Idaho|83
IL|17|Illinois|41
IN|18|Indiana|42
KS|20|Kansas|62
KY|21|Kentucky|52
LA|22|Louisiana|72
MA|25|Massachusetts|13
MD|24|Maryland|35
ME|23|Maine|12
MI|26|Michigan|43
MN|27|Minnesota|63
MO|29|Missouri|64
MS|28|Mississippi|53
MT|30|Montana|84
NC|37|North Carolina|36
ND|38|North Dakota|66
NE|31|Nebraska|65
NH|33|New Hampshire|14
NJ|34|New Jersey|21
NM|35|New Mexico|86
NV|32|Nevada|85
NY|36|New York|22
OH|39|Ohio|44
OK|40|Oklahoma|73
OR|41|Oregon|92
PA|42|Pennsylvania|23
PR|72|Puerto Rico|3
RI|44|Rhode Island|15
SC|45|South Carolina|37
SD|46|South Dakota|67
TN|47|Tennessee|54
TX|48|Texas|74
UT|49|Utah|87
VA|51|Virginia|38
VI|78|U.S. Virgin Islands|4
VT|50|Vermont|16
WA|53|Washington|93
WI|55|Wisconsin|45
WV|54|West Virginia|39
WY|56|Wyoming|88""".splitlines()
    )
}
"""State to its FIPS code, name and world area code."""


def distance_miles(airport: Airport, other: Airport) -> int:
    """Return the great-circle distance of two airports in statute miles (haversine), at least 1."""
    there, here = radians(other.latitude), radians(airport.latitude)
    across = radians(other.longitude - airport.longitude) / 2
    half = sin((there - here) / 2) ** 2 + cos(here) * cos(there) * sin(across) ** 2
    return max(1, round(2 * EARTH_RADIUS_MILES * asin(sqrt(half))))
