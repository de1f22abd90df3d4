"""A memcached shows its figures, and one that is gone is told."""

import pytest

from dbdyno.errors import RunFailed
from helpers import need, system


@pytest.fixture
def started(launch):
    need("memcached")
    one = system("memcached")
    one.start(launch)
    yield one
    one.stop()


def test_counters_grow_and_waits_are_not_shown(started):
    (probe,) = started.probes()
    probe.open()
    before = probe.counters()
    after = probe.counters()
    assert after["received_bytes_total"] > before["received_bytes_total"]
    assert after["memory_limit_bytes"] > 0 and probe.waits() is None and probe.server == "memcached"
    probe.close()


def test_one_that_is_gone_is_told(started):
    (probe,) = started.probes()
    probe.open()
    started.stop()
    with pytest.raises(RunFailed, match="memcached does not show"):
        probe.counters()
    probe.close()
