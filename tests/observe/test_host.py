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


def test_processors_that_a_side_is_pinned_to_are_counted_for_themselves():
    seen, each = HostSampler({"server": [0]}).sample(), psutil.cpu_times(percpu=True)
    work = each[0].user + each[0].nice + each[0].system
    assert seen["host.server_cpus_work_s_total"] == pytest.approx(work, rel=0.05, abs=5)
    assert seen["host.server_cpus_idle_s_total"] == pytest.approx(each[0].idle + each[0].iowait, rel=0.05, abs=5)
    assert HostSampler({"client": [len(each) + 100]}).sample()["host.client_cpus_work_s_total"] == 0
    assert not any("cpus_" in name for name in HostSampler().sample())
