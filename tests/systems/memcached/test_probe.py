"""A memcached shows its figures, and a lost one is reported."""

import pytest

from dbdyno.errors import RunFailed


def test_counters_grow_and_waits_are_not_shown(started):
    (probe,) = started("memcached").probes()
    probe.open()
    before = probe.counters()
    after = probe.counters()
    assert after["received_bytes_total"] > before["received_bytes_total"]
    assert after["memory_limit_bytes"] > 0 and probe.waits() is None and probe.server == "memcached"
    probe.close()


def test_one_that_is_gone_is_told(started):
    server = started("memcached")
    (probe,) = server.probes()
    probe.open()
    server.stop()
    with pytest.raises(RunFailed, match="memcached does not show"):
        probe.counters()
    probe.close()
