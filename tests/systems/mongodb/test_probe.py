"""serverStatus under dbdyno's names."""

import pytest

from dbdyno.errors import RunFailed
from dbdyno.systems.mongodb.probe import figures_of


def test_figures_are_found_where_they_are_and_what_is_not_there_is_left_out():
    status = {
        "metrics": {"commands": {"find": {"total": 7, "failed": 0}, "hello": {"total": 2}}},
        "connections": {"current": 3, "available": 9},
    }
    assert figures_of(status) == {"finds_total": 7.0, "connected_clients": 3.0}
    assert figures_of({}) == {}


@pytest.mark.systems
def test_it_counts_and_says_when_the_server_is_gone(started):
    server = started("ferretdb")
    (probe,) = server.probes()
    probe.open()
    before = probe.counters().get("finds_total", 0.0)
    server.counters()
    assert probe.counters().get("finds_total", 0.0) == before
    assert probe.waits() is None
    server.stop()
    with pytest.raises(RunFailed, match="does not show its figures"):
        probe.counters()
    probe.close()
    probe.close()
