"""A server's figures get dbdyno's names and units, those it does not have are left out, and who answers is known."""

import pytest

from dbdyno.observe.answering import AnsweringThread
from dbdyno.systems.probe import named


def test_names_and_units():
    theirs = {"time_ms": b"1500", "hits": "7", "else": "x", "misses": "unknown"}
    assert named(theirs, {"time_ms": ("time_s_total", 1e-3), "hits": "hits_total", "misses": "misses_total"}) == {
        "time_s_total": 1.5,
        "hits_total": 7,
    }


@pytest.mark.parametrize("text", ["mariadb", "mariadb?performance_schema=ON", "postgresql"])
def test_what_answers_and_how_far_away_it_is(started, text):
    server = started(text)
    (probe,) = server.probes()
    probe.open()
    answering = AnsweringThread(*server.server_pids().values())
    before_s = answering.cpu_s(probe.answered_by)
    for _ in range(20):
        probe.waits()
    assert 0 < answering.cpu_s(probe.answered_by) - before_s < 20
    assert 0 < probe.round_trip_s < 1
    answering.close()
    probe.close()
