"""Stalls are read as the kernel writes them, and a kernel that keeps none says so once."""

from dbdyno.observe.pressure import PressureSampler

LINES = "some avg10=1.00 avg60=0.5 avg300=0.1 total=1500000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=250000\n"


def test_stalls_are_in_seconds(tmp_path):
    for resource in ("cpu", "io", "memory"):
        (tmp_path / resource).write_text(LINES)
    not_seen = {}
    assert PressureSampler(not_seen, str(tmp_path)).sample() == {
        "pressure.cpu_some_s_total": 1.5,
        "pressure.io_some_s_total": 1.5,
        "pressure.io_full_s_total": 0.25,
        "pressure.memory_some_s_total": 1.5,
    }
    assert not_seen == {}


def test_a_kernel_without_it_is_told(tmp_path):
    not_seen = {}
    assert PressureSampler(not_seen, str(tmp_path / "none")).sample() == {}
    assert "psi=1" in not_seen["pressure"]
