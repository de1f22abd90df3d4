"""Processes are recorded together for some seconds; what the host does not show is missing, and why is known."""

import subprocess
import sys

import pytest

from dbdyno.observe.stacks import window as module
from dbdyno.observe.stacks.counters import EVENTS
from dbdyno.observe.stacks.permission import OFF_CPU, ON_CPU
from dbdyno.observe.stacks.window import Window, stack_names
from helpers import need_stacks, wait_until


@pytest.fixture
def busy():
    with subprocess.Popen([sys.executable, "-I", "-c", "while True: pass"]) as process:
        yield process
        process.kill()


def test_a_server_that_is_alone_needs_no_name():
    assert stack_names({"redis": 7}) == {"server": 7}
    assert stack_names({"memcached": 7, "mariadb": 8}) == {"server-memcached": 7, "server-mariadb": 8}


def test_a_process_is_recorded_and_the_guard_is_told(busy, tmp_path):
    need_stacks()
    said = []
    with Window(lambda *what: said.append(what), {"server": busy.pid}, tmp_path, 1) as window:
        assert not window.is_blind and window.begun_unix_s is None
        window.begin()
        assert wait_until(lambda: window.is_over)
        stacks, failed = window.write(tmp_path)
        assert set(stacks) == {"server-on-cpu", "server-off-cpu"} and not failed
        assert stacks["server-on-cpu"]["samples"] > 0 and (tmp_path / "server-on-cpu.folded").read_text()
        assert window.events_per_s()["server"].keys() == EVENTS.keys()
    recorders = {pid for verb, pid in said if verb == "pid"}
    assert len(recorders) == 2 and {pid for verb, pid in said if verb == "done"} == recorders


def test_a_host_that_shows_nothing_is_blind(tmp_path, monkeypatch):
    for missing, is_blind in (({}, False), ({OFF_CPU: "no"}, False), (dict.fromkeys((ON_CPU, OFF_CPU), "no"), True)):
        monkeypatch.setattr(module, "not_seen", lambda missing=missing: missing)
        assert Window(lambda *what: None, {}, tmp_path, 1).is_blind == is_blind
