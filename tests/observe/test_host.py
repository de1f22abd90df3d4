"""The host's figures are the kernel's."""

import psutil
import pytest

from dbdyno.observe.host import HostSampler


def test_processor_seconds_and_memory_are_what_psutil_says_too():
    seen, times = HostSampler().sample(), psutil.cpu_times()
    for name, own in (("user", times.user + times.nice), ("idle", times.idle), ("iowait", times.iowait)):
        assert seen[f"host.cpu_{name}_s_total"] == pytest.approx(own, rel=0.05, abs=5)
    assert seen["host.memory_available_bytes"] == pytest.approx(psutil.virtual_memory().available, rel=0.3)
    assert seen["host.context_switches_total"] <= psutil.cpu_stats().ctx_switches
    # The thread that asks runs.
    assert seen["host.runnable"] >= 1
