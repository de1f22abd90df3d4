"""A private server on another host: started, watched, observed and stopped there, by an agent on another address."""

import json
import os
import signal
import socket
import ssl
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from dbdyno.errors import RunFailed, UserError
from dbdyno.hosts.certificates import Certificates
from dbdyno.hosts.elsewhere import Elsewhere, KeptElsewhere, assign, described, hosted, settle
from dbdyno.hosts.observer import HostsObserver
from dbdyno.leftovers.processes import start_time
from dbdyno.results.observations import read_observations
from dbdyno.systems.base import Launch
from helpers import need, system, wait_until
from systems.load import execute

pytestmark = pytest.mark.systems

ADDRESS = "127.0.0.2"
"""Another host for all that dbdyno knows: nothing listens at 127.0.0.1."""


class Crew:
    """Server hosts that are there, without a scheduler that they join."""

    def __init__(self, context, *agents) -> None:
        self.context, self.agent = context, agents[0]
        self._members = {agent.member.name: agent.member for agent in agents}

    def server(self, name, interrupted):
        assert not interrupted()
        return self._members[name]


@pytest.fixture
def conductor(certificates):
    return Certificates.of(certificates, "conductor").context(ssl.Purpose.SERVER_AUTH)


@pytest.fixture
def crew(conductor, start_agent, tmp_path):
    return Crew(conductor, start_agent("s1", host=ADDRESS, DBDYNO_STATE_DIR=str(tmp_path / "s1")))


@pytest.fixture
def start(crew, guard, tmp_path):
    """Return a function that starts a system on the server host; all of them are stopped afterwards."""
    started = []

    def start_one(text="redis") -> Elsewhere:
        need(text.split("?")[0])
        logs = tmp_path / f"logs-{len(started)}"
        logs.mkdir()
        started.append(system(text))
        assign(started[-1], crew, ["s1"])
        started[-1].start(Launch(guard, logs, clients=8, rows=100))
        return started[-1]

    yield start_one
    for moved in started:
        moved.stop()


def keeper_of(crew) -> psutil.Process:
    """Return the process that keeps the only system of the server host."""
    agent = psutil.Process(crew.agent.process.pid)
    (keeper,) = [child for child in agent.children(recursive=True) if "dbdyno.hosts.keeper" in child.cmdline()]
    return keeper


def left_of(tmp_path: Path) -> list[str]:
    """Return the journals on the server host: what a run still has there."""
    return [path.name for path in (tmp_path / "s1").glob("*.journal")]


@pytest.mark.parametrize("name", ["redis", "valkey", "memcached", "mariadb", "postgresql"])
def test_a_server_is_started_for_other_hosts_and_nothing_stays(name, start, tmp_path):
    moved = start(name)
    (pid,) = moved.server_pids().values()
    host, port = moved.addresses()[name]
    assert host == ADDRESS
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), 1)
    # These it asks from here, with the password.
    (server,) = moved.servers()
    assert server["version"] and moved.counters()[name] and moved.all_settings()[name]
    assert any(ADDRESS in option for option in moved.started_with()[name])
    assert moved.death() is None
    assert moved.data_bytes() is not None
    directory = Path(f"/proc/{pid}/cwd").readlink()
    assert directory.exists() and left_of(tmp_path)
    moved.stop()
    assert start_time(pid) is None and not directory.exists()
    assert wait_until(lambda: not left_of(tmp_path))


def kept_by(moved) -> tuple[KeptElsewhere, Path]:
    """Have a server keep its data, and return that with its directory on the server host."""
    (pid,) = moved.server_pids().values()
    kept = moved.keep()
    assert start_time(pid) is None and moved.server_pids() == {}
    return kept, kept.path


@pytest.mark.parametrize("name", ["redis", "valkey", "mariadb", "postgresql"])
def test_it_starts_on_copies_of_what_was_kept_there(name, start, tmp_path, monkeypatch):
    moved = start(name)
    # Agents have a fake load client; these rows are real.
    monkeypatch.delenv("DBDYNO_LOAD")
    assert moved.restorable
    assert execute(moved, "point-get", ["prepare", "load"]).status == 0
    kept, directory = kept_by(moved)
    for cold in (False, True):
        moved.start(replace(moved._launch, data=directory, cold=cold))
        assert moved.addresses()[name][0] == ADDRESS
        assert execute(moved, "point-get", ["run", "verify"]).status == 0
        moved.stop()
    assert kept.is_there() and kept.has_room() and directory.is_dir()
    kept.remove()
    assert not kept.is_there() and not directory.exists()
    assert wait_until(lambda: not left_of(tmp_path))


def test_a_cache_keeps_nothing_there(start):
    moved = start("memcached")
    assert not moved.restorable
    with pytest.raises(UserError, match="cannot start again from its data"):
        moved.keep()


@pytest.mark.parametrize("who", ["agent", "keeper", "conductor"])
def test_what_is_kept_goes_with_the_run(who, start, crew, tmp_path):
    kept, directory = kept_by(start("redis"))
    if who == "conductor":
        kept.line._say({})
    elif who == "agent":
        crew.agent.process.kill()
    else:
        keeper_of(crew).kill()
    assert wait_until(lambda: not directory.exists())
    assert wait_until(lambda: not kept.is_there()) and wait_until(lambda: not left_of(tmp_path))


@pytest.fixture
def start_parts(conductor, start_agent, guard, tmp_path):
    """Return a function that starts a system of two servers on two hosts; it is stopped afterwards."""
    started = []

    def start_both(text):
        need(text)
        names = {"s1": ADDRESS, "s2": "127.0.0.3"}
        agents = [start_agent(name, host=host, DBDYNO_STATE_DIR=str(tmp_path / name)) for name, host in names.items()]
        started.append(system(text))
        assign(started[0], Crew(conductor, *agents), list(names))
        started[0].start(Launch(guard, tmp_path, clients=8, rows=100))
        return started[0]

    yield start_both
    for moved in started:
        moved.stop()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("galera?nodes=2", ["galera-1", "galera-2"]),
        ("replicated(mariadb*2)", ["replicated-1", "replicated-2"]),
        ("cache-aside(memcached, redis)", ["memcached", "redis"]),
    ],
)
def test_each_server_of_an_arrangement_is_on_a_host_of_its_own(start_parts, text, names):
    moved = start_parts(text)
    assert [server.post.host for server in hosted(moved)] == ["s1", "s2"]
    assert [moved.addresses()[name][0] for name in names] == [ADDRESS, "127.0.0.3"]
    assert sorted(server["name"] for server in moved.servers()) == sorted(names)
    assert set(moved.counters()) == set(names) and moved.death() is None
    pids = moved.server_pids()
    moved.stop()
    assert not any(map(start_time, pids.values()))
    # It can be started anew, as for the next repetition.
    assert moved.server_pids() == {}


def test_a_setting_that_a_server_does_not_take_is_said_in_its_words(start):
    with pytest.raises(UserError, match=r"redis did not start: .*maxmemory-policy"):
        start("redis?maxmemory-policy=none-such")


def test_the_log_of_a_server_comes_here(start, tmp_path):
    start("redis")
    log = tmp_path / "logs-0" / "server-redis.log"
    assert wait_until(lambda: log.exists() and "Ready to accept connections" in log.read_text())


def test_a_server_that_is_killed_is_missed_and_named_with_its_host(start):
    moved = start("redis")
    (pid,) = moved.server_pids().values()
    os.kill(pid, signal.SIGKILL)
    assert wait_until(moved.death) == "host s1: redis was killed by SIGKILL"


def test_a_server_is_killed_started_again_and_restarted_there(start):
    moved = start("mariadb")
    first = moved.server_pids()
    moved.kill()
    assert start_time(first["mariadb"]) is None
    moved.start_again()
    second = moved.server_pids()
    moved.restart()
    assert len({first["mariadb"], second["mariadb"], moved.server_pids()["mariadb"]}) == 3
    assert moved.servers()[0]["version"]


def test_what_is_observed_there_is_recorded_here(start, tmp_path):
    moved = start("redis")
    moved.compare_clocks()
    folder = tmp_path / "trial"
    folder.mkdir()
    observer = HostsObserver([moved], folder)
    began = time.time()
    with observer.watching(None, False):
        assert wait_until(lambda: (folder / "observations.jsonl").read_text().count("\n") >= 2)
    observer.stop()
    rows = [json.loads(line) for line in (folder / "observations.jsonl").read_text().splitlines()]
    assert {"host.cpu_user_s_total", "process.redis.cpu_user_s_total"} <= rows[-1].keys()
    assert any(name.startswith("store.redis.") for name in rows[-1])
    assert all(began - 1 < row["at_unix_s"] < time.time() + 1 for row in rows)
    assert observer.cpu_s > 0
    assert read_observations(folder) is not None


def test_its_times_are_those_of_this_hosts_clock(start, monkeypatch):
    moved = start("redis")
    before = moved.compare_clocks()
    moved._before = type(before)(10800.0, 0.0, 0.0)
    assert moved._in_our_time({"at_unix_s": 20800.5, "host.x": 1.0}) == {"at_unix_s": 10000.5, "host.x": 1.0}


def test_a_host_that_is_gone_ends_its_server_and_is_named(start, crew, tmp_path):
    moved = start("redis")
    (pid,) = moved.server_pids().values()
    crew.agent.process.kill()
    assert wait_until(lambda: start_time(pid) is None)
    assert wait_until(moved.death).startswith("host s1: lost: ")
    assert wait_until(lambda: not left_of(tmp_path))
    assert moved.data_bytes() is None
    with pytest.raises(RunFailed, match="host s1: lost"):
        moved.restart()


def test_after_a_failure_it_is_known_whether_the_host_is_there(start, crew):
    moved = start("redis")
    settle(moved)
    assert moved.death() is None
    crew.agent.process.kill()
    settle(moved)
    assert moved.death().startswith("host s1: lost: ")


def test_a_conductor_that_is_gone_ends_the_server(start, tmp_path):
    moved = start("redis")
    (pid,) = moved.server_pids().values()
    # The connection ends without a word, as if the conductor was killed.
    moved.line._say({})
    assert wait_until(lambda: start_time(pid) is None)
    assert wait_until(lambda: not left_of(tmp_path))


def test_a_keeper_that_is_killed_leaves_nothing(start, crew, tmp_path):
    moved = start("redis")
    (pid,) = moved.server_pids().values()
    keeper_of(crew).kill()
    assert wait_until(lambda: start_time(pid) is None)
    assert wait_until(moved.death) == "host s1: the keeper of its servers was killed by SIGKILL"
    assert wait_until(lambda: not left_of(tmp_path))


def test_a_log_is_written_where_logs_are_and_nowhere_else(start, tmp_path):
    moved = start("redis")
    moved._take({"file": "../server-x.log", "text": "no"})
    assert not (tmp_path / "server-x.log").exists()


def test_a_host_says_what_it_lacks_and_what_room_it_has(crew):
    about = described(crew, crew.agent.member, [(system("redis").spec, 0)], 1 << 30)
    assert set(about) == {"missing", "cpus", "room"}
    assert about["cpus"] == sorted(os.sched_getaffinity(0))
    assert about["room"]["memory_bytes"] <= 1 << 30


def test_a_server_by_its_url_is_started_nowhere(crew):
    attached = system("redis://10.0.0.1:6379")
    assign(attached, crew, ["s1"])
    assert not isinstance(attached, Elsewhere) and not hosted(attached)
