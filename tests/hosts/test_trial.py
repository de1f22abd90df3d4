"""A trial on several hosts, from the conductor: with real agents, and load clients that need no store."""

import json
import os
import signal
import ssl
import time
from pathlib import Path

import pytest

from dbdyno.hosts import channel
from dbdyno.hosts.certificates import Certificates
from dbdyno.hosts.network import round_trip_to
from dbdyno.hosts.slices import slices
from dbdyno.hosts.trial import Part, Watch, run_parts
from dbdyno.leftovers.processes import start_time
from dbdyno.results.samples import AT
from helpers import wait_until

PLAN = {
    # The fake load client takes "run" alone for the measurement of a ceiling.
    "phases": ["run", "verify"],
    "workload": {"rows": 10},
    "arrivals": None,
    "warmup_s": 0,
    "duration_s": 2,
    "clients": {"first": 0, "count": 1, "of": 2},
}


@pytest.fixture
def conductor(certificates) -> ssl.SSLContext:
    return Certificates.of(certificates, "conductor").context(ssl.Purpose.SERVER_AUTH)


def parts_of(agents, folder) -> list[Part]:
    cut = slices(len(agents), [agent.member.name for agent in agents])
    return [
        Part(agent.member, client_slice, PLAN, folder / client_slice.host)
        for agent, client_slice in zip(agents, cut, strict=True)
    ]


def run(
    parts,
    conductor,
    on_live=lambda host, record: None,
    death=lambda: None,
    interrupted=lambda: False,
    patience_s=60.0,
    **watched,
):
    watch = Watch(death, interrupted, on_live, patience_s, **watched)
    return run_parts(parts, ["open sesame"], "run-1", conductor, watch)


def load_pids(parts) -> list[int]:
    """Return the load clients that said hello so far."""
    return [json.loads(line)["pid"] for part in parts for line in _lines(part) if '"hello"' in line]


def _lines(part) -> list[str]:
    return (part.folder / "records.jsonl").read_text().splitlines()


class Hellos:
    """Takes note of the load clients, and does something once, in the first second of all hosts."""

    def __init__(self, hosts: int, act=lambda: None) -> None:
        self.pids: list[int] = []
        self._seconds, self._hosts, self._act, self.acted_s = set(), hosts, act, None

    def __call__(self, host, record) -> None:
        if record["record"] == "hello":
            self.pids.append(record["pid"])
        if record["record"] == "interval":
            self._seconds.add(host)
        if len(self._seconds) == self._hosts and self.acted_s is None:
            self._act()
            self.acted_s = time.monotonic()

    def all_gone(self) -> bool:
        return len(self.pids) == self._hosts and not any(start_time(pid) for pid in self.pids)


def test_hosts_run_their_parts_and_their_records_come_here(start_agent, conductor, tmp_path):
    agents = [start_agent("c1"), start_agent("c2")]
    parts = parts_of(agents, tmp_path / "hosts")
    ended = run(parts, conductor)
    assert ended.given_up is None and ended.start_unix_s > 0
    for part, agent in zip(parts, agents, strict=True):
        assert (part.exit_status, part.problem, part.lost) == (0, None, False)
        assert [json.loads(line)["record"] for line in _lines(part)][-1] == "end"
        assert abs(part.before.offset_s) <= part.before.error_s and part.after is not None
        assert wait_until(lambda agent=agent: not list(agent.records.glob("*"))) is True


def test_client_hosts_are_observed_and_measure_their_way_to_the_server(start_agent, conductor, tmp_path):
    server, rows = start_agent("s1"), []
    parts = parts_of([start_agent("c1")], tmp_path / "hosts")
    peers = {"s1": (server.member.host, server.member.port)}
    began = time.time()
    run(parts, conductor, on_observed=lambda host, row: rows.append((host, row)), peers=peers)
    assert {host for host, _ in rows} == {"c1"}
    assert all(began - 1 < row[AT] < time.time() + 1 for _, row in rows)
    assert {"host.cpu_user_s_total", "network.sent_bytes_total"} <= rows[0][1].keys()
    assert all(0 < row[round_trip_to("s1")] < 1 for _, row in rows)


def test_passwords_are_in_no_file(start_agent, conductor, tmp_path):
    parts = parts_of([start_agent("c1")], tmp_path / "hosts")
    run(parts, conductor)
    written = [path for path in tmp_path.rglob("*") if path.is_file() and b"open sesame" in path.read_bytes()]
    assert load_pids(parts) and not written


@pytest.mark.parametrize("of", ["agent", "load client"])
def test_a_host_that_is_killed_ends_the_trial_for_all(start_agent, conductor, tmp_path, fake_load, of):
    fake_load(await_file=str(tmp_path / "never"))
    agents = [start_agent("c1"), start_agent("c2")]
    parts = parts_of(agents, tmp_path / "hosts")
    hellos = Hellos(2, lambda: os.kill(agents[0].process.pid if of == "agent" else hellos.pids[0], signal.SIGKILL))
    ended = run(parts, conductor, hellos)
    if of == "agent":
        assert ended.given_up.startswith("host c1: lost: ") and (parts[0].lost, parts[1].lost) == (True, False)
    else:
        assert {part.exit_status for part in parts} == {-signal.SIGKILL}
        assert "its load client was killed by SIGKILL" in ended.given_up and not any(part.lost for part in parts)
    wait_until(hellos.all_gone)
    # The other one's records were collected.
    assert _lines(parts[1])


@pytest.mark.parametrize("stopped", ["agent", "conductor's link"])
def test_a_host_that_is_silent_is_lost_and_what_it_ran_ends(
    start_agent, conductor, tmp_path, fake_load, monkeypatch, stopped
):
    monkeypatch.setattr(channel, "SILENCE_S", 8.0)
    fake_load(await_file=str(tmp_path / "never"))
    agents = [start_agent("c1"), start_agent("c2")]
    parts = parts_of(agents, tmp_path / "hosts")
    hellos = Hellos(2, lambda: os.kill(agents[0].process.pid, signal.SIGSTOP))
    ended = run(parts, conductor, hellos)
    assert ended.given_up == "host c1: lost: silent for 8 s"
    # It finds its connection closed as soon as it goes on, or is ended by its worker.
    os.kill(agents[0].process.pid, signal.SIGCONT if stopped == "agent" else signal.SIGKILL)
    wait_until(hellos.all_gone)


def test_a_host_that_cannot_be_reached_is_named(start_agent, conductor, tmp_path):
    agents = [start_agent("c1"), start_agent("c2")]
    agents[1].process.kill()
    agents[1].process.wait()
    parts = parts_of(agents, tmp_path / "hosts")
    assert run(parts, conductor).given_up.startswith("host c2: lost: cannot be reached at 127.0.0.1:")
    assert parts[0].exit_status is None


def test_another_host_at_its_place_is_not_it(start_agent, conductor, tmp_path):
    parts = parts_of([start_agent("c2")], tmp_path / "hosts")
    parts[0].member = type(parts[0].member)("c1", "c1", "127.0.0.1", parts[0].member.port, 1)
    assert "is the host c2, by its certificate" in run(parts, conductor).given_up


def test_a_server_that_died_ends_the_trial(start_agent, conductor, tmp_path, fake_load):
    fake_load(await_file=str(tmp_path / "never"))
    parts = parts_of([start_agent("c1")], tmp_path / "hosts")
    hellos = Hellos(1)
    ended = run(parts, conductor, hellos, death=lambda: "redis ended" if hellos.acted_s else None)
    assert ended.given_up == "redis ended"
    # It was asked to end, so its records are whole.
    assert (parts[0].exit_status, json.loads(_lines(parts[0])[-1])["status"]) == (0, "interrupted")


def test_a_person_ends_the_trial(start_agent, conductor, tmp_path, fake_load):
    fake_load(await_file=str(tmp_path / "never"))
    parts = parts_of([start_agent("c1"), start_agent("c2")], tmp_path / "hosts")
    hellos = Hellos(2)
    ended = run(parts, conductor, hellos, interrupted=lambda: hellos.acted_s is not None)
    assert ended.given_up is None
    assert [json.loads(_lines(part)[-1])["status"] for part in parts] == ["interrupted"] * 2


def test_a_host_that_refuses_its_part_ends_the_trial(start_agent, conductor, tmp_path, fake_load):
    fake_load(refuse="run")
    parts = parts_of([start_agent("c1"), start_agent("c2")], tmp_path / "hosts")
    assert "a table dbdyno_player without dbdyno's marker is there" in run(parts, conductor).given_up


def test_a_load_client_that_does_not_end_is_given_up(start_agent, conductor, tmp_path, fake_load):
    fake_load(await_file=str(tmp_path / "never"))
    parts = parts_of([start_agent("c1")], tmp_path / "hosts")
    hellos = Hellos(1)
    ended = run(parts, conductor, hellos, patience_s=1.0)
    assert ended.given_up == "a load client did not end in time and was given up"
    wait_until(hellos.all_gone)


def test_a_full_disk_of_a_host_is_said(start_agent, conductor, tmp_path, fake_load):
    fake_load(await_file=str(tmp_path / "never"))
    agents = [start_agent("c1", "prlimit", "--fsize=3000"), start_agent("c2")]
    parts = parts_of(agents, tmp_path / "hosts")
    hellos = Hellos(2)
    ended = run(parts, conductor, hellos)
    assert ended.given_up == "host c1: its records cannot be kept: File too large" and not parts[0].lost
    wait_until(lambda: not any(start_time(pid) for pid in hellos.pids))


def faketime() -> str:
    """Return the library that fakes a program's clock; skip the test if it is not installed."""
    for library in Path("/usr/lib").glob("*/faketime/libfaketime.so.1"):
        return str(library)
    if os.environ.get("CI") == "true":
        pytest.fail("libfaketime is not installed: apt install faketime")
    pytest.skip("libfaketime is not installed: apt install faketime")


def faked(file: Path) -> dict[str, str]:
    return {
        "LD_PRELOAD": faketime(),
        "FAKETIME_TIMESTAMP_FILE": str(file),
        "FAKETIME_NO_CACHE": "1",
        "DONT_FAKE_MONOTONIC": "1",
    }


def test_a_clock_that_is_hours_off_is_known(start_agent, conductor, tmp_path):
    clock = tmp_path / "clock"
    clock.write_text("+10800\n")
    parts = parts_of([start_agent("c1", **faked(clock)), start_agent("c2")], tmp_path / "hosts")
    assert run(parts, conductor).given_up is None
    assert [round(part.before.offset_s) for part in parts] == [3 * 3600, 0]


def test_a_clock_that_is_set_during_a_trial_makes_it_invalid(start_agent, conductor, tmp_path, fake_load):
    fake_load(await_file=str(tmp_path / "never"))
    clock = tmp_path / "clock"
    clock.write_text("+10800\n")
    parts = parts_of([start_agent("c1", **faked(clock)), start_agent("c2")], tmp_path / "hosts")
    hellos = Hellos(2, lambda: clock.write_text("+10820\n"))
    ended = run(parts, conductor, hellos)
    assert ended.given_up.startswith("host c1: its clock was set by +20.0")
    assert parts[1].problem is None
