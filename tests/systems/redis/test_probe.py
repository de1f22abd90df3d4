"""A Redis shows its figures, and a lost one is reported."""

import pytest

from dbdyno.errors import RunFailed


def test_counters_grow_and_waits_are_not_shown(started):
    (probe,) = started("redis").probes()
    probe.open()
    before = probe.counters()
    after = probe.counters()
    assert after["commands_total"] > before["commands_total"]
    assert after["memory_bytes"] > 0 and probe.waits() is None and probe.server == "redis"
    probe.close()


def test_one_that_is_gone_is_told(started):
    server = started("redis")
    (probe,) = server.probes()
    probe.open()
    server.stop()
    with pytest.raises(RunFailed, match="redis does not show"):
        probe.counters()
    probe.close()
