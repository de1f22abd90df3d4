"""perf, the kernel's setting and the user decide what may be recorded; a refusal comes with a way out."""

import pytest

from dbdyno.observe.stacks import permission
from dbdyno.observe.stacks.permission import OFF_CPU, ON_CPU, in_words, not_seen


@pytest.fixture
def host(monkeypatch):
    """Return a function that makes a host: a setting of the kernel, and the capabilities of who asks."""

    def make(level, capabilities=0):
        files = {permission.PARANOID: level, "/proc/self/status": f"Name:\tx\nCapEff:\t{capabilities:016x}\n"}
        monkeypatch.setattr(permission, "read_first", files.get)
        monkeypatch.setattr(permission, "_missing", lambda: None)

    return make


@pytest.mark.parametrize(
    ("level", "capabilities", "missing"),
    [
        ("-1", 0, set()),
        ("1", 0, set()),
        ("2", 0, {OFF_CPU}),
        ("3", 0, {ON_CPU, OFF_CPU}),
        ("4", 1 << 38, set()),
        ("2", 1 << 21, set()),
        (None, 1 << 38, {ON_CPU, OFF_CPU}),
    ],
)
def test_what_is_not_permitted(host, level, capabilities, missing):
    host(level, capabilities)
    assert set(not_seen()) == missing


def test_what_to_do_is_said_once(host):
    host("3")
    reason = "kernel.perf_event_paranoid is 3: as root, sysctl kernel.perf_event_paranoid=1"
    assert in_words(not_seen()) == {"on-cpu and off-cpu stacks": reason}
    host("1")
    assert in_words(not_seen()) == {}


def test_a_perf_that_is_missing_or_does_not_run_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    (reason,) = in_words(not_seen()).values()
    assert reason.startswith("perf is not installed: apt install linux-perf")
    (tmp_path / "perf").write_text("#!/bin/sh\nexit 2\n")
    (tmp_path / "perf").chmod(0o755)
    assert set(not_seen()) == {ON_CPU, OFF_CPU}
