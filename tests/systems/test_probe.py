"""A server's figures get dbdyno's names and units, and those it does not have are left out."""

from dbdyno.systems.probe import named


def test_names_and_units():
    theirs = {"time_ms": b"1500", "hits": "7", "else": "x", "misses": "unknown"}
    assert named(theirs, {"time_ms": ("time_s_total", 1e-3), "hits": "hits_total", "misses": "misses_total"}) == {
        "time_s_total": 1.5,
        "hits_total": 7,
    }
