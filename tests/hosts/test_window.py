"""Stacks of servers on several hosts: what each host shows, says and sends."""

import pytest

from dbdyno.errors import RunFailed
from dbdyno.hosts.window import HostsWindow
from dbdyno.observe.stacks.permission import OFF_CPU, ON_CPU

ALL = dict.fromkeys((ON_CPU, OFF_CPU), "perf is not installed")


class Line:
    """A keeper whose stacks are as they are given; lost_at: the call at which the host is gone."""

    def __init__(self, missing, stacks, lost_at=None) -> None:
        self.lost, self.waits, self.called = None, False, []
        self._missing, self._stacks, self._lost_at = missing, stacks, lost_at

    def call(self, verb, **arguments):
        self.called.append(verb)
        if verb == self._lost_at:
            self.lost = "lost: silent for 10 s"
            raise RunFailed("host s1: lost: silent for 10 s")
        return getattr(self, verb)(**arguments)

    def stacks_not_seen(self):
        return self._missing

    def record_stacks(self, name, seconds):
        self._name = name

    def stacks_are_over(self):
        return self.called.count("stacks_are_over") > 1

    def end_stacks(self):
        stacks = {f"{self._name}-{kind}": {"samples": 1} for kind in self._stacks}
        return {"stacks": stacks, "failed": {}, "events_per_s": {self._name: {"instructions": 5.0}}}

    def read_stack(self, stack, begin):
        return self._stacks[stack.removeprefix(f"{self._name}-")][begin : begin + 2]

    def close_stacks(self):
        """It has ended."""


class Server:
    """A server on another host."""

    def __init__(self, name, host, missing=None, stacks=None, lost_at=None) -> None:
        self.server_name, self.post = name, type("Post", (), {"host": host})
        self.line = Line(missing or {}, stacks or {}, lost_at)


def recorded(folder, *servers):
    with HostsWindow(servers, 1) as window:
        window.begin()
        written = window.write(folder)
        assert window.is_over and window.begun_unix_s
        return window, *written


def test_stacks_of_one_host_are_called_as_on_this_host(tmp_path):
    server = Server("redis", "s1", stacks={ON_CPU: "main;work 5\n"})
    window, stacks, failed = recorded(tmp_path, server)
    assert (stacks, failed, window.missing) == ({"server-on-cpu": {"samples": 1}}, {}, {})
    assert (tmp_path / "server-on-cpu.folded").read_text() == "main;work 5\n"
    assert window.events_per_s() == {"server": {"instructions": 5.0}}
    assert server.line.called[-1] == "close_stacks"


def test_a_file_of_another_name_is_not_written(tmp_path):
    recorded(tmp_path, Server("redis", "s1", stacks={"../x": "no"}))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("perf_on_s2", [False, True])
def test_of_several_hosts_those_record_that_can(tmp_path, perf_on_s2):
    there = Server("mariadb", "s2", {} if perf_on_s2 else ALL, {OFF_CPU: "wait 5\n"})
    window, stacks, failed = recorded(tmp_path, Server("memcached", "s1", ALL), there)
    assert window.missing["server-memcached-on-cpu"] == "on s1: perf is not installed"
    assert (window.is_blind, len(window.missing)) == ((False, 2) if perf_on_s2 else (True, 4))
    assert list(stacks) == (["server-mariadb-off-cpu"] if perf_on_s2 else []) and not failed


@pytest.mark.parametrize("call", ["record_stacks", "end_stacks"])
def test_a_host_that_is_lost_meanwhile_is_named(tmp_path, call):
    server = Server("redis", "s1", lost_at=call)
    _, stacks, failed = recorded(tmp_path, server)
    assert (stacks, failed) == ({}, {"server": "host s1: lost: silent for 10 s"})
    assert "close_stacks" not in server.line.called


def test_a_host_that_is_gone_before_shows_nothing(tmp_path):
    window, *_ = recorded(tmp_path, Server("redis", "s1", lost_at="stacks_not_seen"))
    assert window.is_blind and window.missing[ON_CPU] == "host s1: lost: silent for 10 s"


def test_without_a_server_on_a_server_host_nothing_is_recorded(tmp_path):
    window, stacks, _ = recorded(tmp_path)
    assert window.is_blind and not stacks and set(window.missing) == {ON_CPU, OFF_CPU}
