"""Airlines and airports of generated flights."""

from dbdyno.analytics.places import AIRPORTS, CARRIERS, STATES, distance_miles

BY_CODE = {airport.code: airport for airport in AIRPORTS}


def test_distances_are_those_of_the_map():
    # 2,475 and 606 miles in the real files; places here are rounded to a tenth of a degree.
    assert abs(distance_miles(BY_CODE["JFK"], BY_CODE["LAX"]) - 2475) < 25
    assert abs(distance_miles(BY_CODE["ATL"], BY_CODE["ORD"]) - 606) < 15
    assert distance_miles(BY_CODE["JFK"], BY_CODE["LAX"]) == distance_miles(BY_CODE["LAX"], BY_CODE["JFK"])


def test_every_airport_is_there_once_in_a_known_state():
    assert len(BY_CODE) == len(AIRPORTS)
    assert {airport.state for airport in AIRPORTS} <= STATES.keys()


def test_an_airline_ends_after_it_began():
    assert len({carrier.code for carrier in CARRIERS}) == len(CARRIERS)
    assert all(carrier.first < carrier.last for carrier in CARRIERS)
