"""A fifth of what limited a trial is taken away, and what came of it is written down; or why it could not be."""

import json
import os
from contextlib import contextmanager

import pytest

from dbdyno.conduct import confirm
from dbdyno.conduct.confirm import TAKEN, _Less, _less, _OthersWrite, confirm_limit
from dbdyno.conduct.listener import Listener
from dbdyno.conduct.plan import make_trial_plan
from dbdyno.conduct.preparation import describe_system
from dbdyno.conduct.relieve import Change
from dbdyno.conduct.trial import Prepared, run_trial
from dbdyno.errors import UserError
from dbdyno.experiment.trials import expand
from dbdyno.results.read import read_trial
from dbdyno.systems import build
from dbdyno.systems.base import Launch
from dbdyno.systems.running.cgroup import cpu_limit, disk_limit
from verdict.made import IDLE_HOST, host, process, trial, waits

CLIENT = process("client", cpu=0.3)
SERVER = process("mariadb", cpu=0.4) | CLIENT
ABOUT = {"server_pids": {"mariadb": 7}}


def reading(others_bps=0, **waiting):
    """A server that reads 10 MB/s in 500 pieces and hardly writes, and what its threads wait in."""
    counted = {"process.mariadb.read_bytes_total": 10e6, "process.mariadb.written_bytes_total": 10}
    device = {"disk.sda.reads_total": 500, "disk.sda.read_bytes_total": 10e6 + others_bps}
    return SERVER | counted | device | waits(**waiting)


WRITING = {"process.mariadb.written_bytes_total": 1e6, "disk.sda.write_bytes_total": 1.1e6, "disk.sda.writes_total": 50}


def plan_of(running, system):
    """Return the plan of the first trial of a run."""
    (trial, *_) = expand(running.experiment, running.experiment.system)[0].trials
    return make_trial_plan(running.experiment, "run", system.store_plan([]), trial)


def test_of_processors_a_fifth_of_what_there_was_to_use_is_taken_not_of_what_was_used():
    less = _less("server-cpu", trial(SERVER | host(IDLE_HOST), **ABOUT))
    assert (less.of_client, less.how) == (False, "1.60 of 2.00 processors left")
    assert less.limit == cpu_limit(1.6)
    held = SERVER | host(IDLE_HOST) | {"cgroup.mariadb.throttled_s_total": 0.5}
    assert _less("server-cpu", trial(held, **ABOUT)).how == "0.32 of 0.40 processors left"
    pinned = _less("client", trial(SERVER | host(IDLE_HOST), client_cpus=[0]))
    assert (pinned.of_client, pinned.how) == (True, "0.80 of 1.00 processors left")
    assert _less("server-cpu", trial(CLIENT | host(IDLE_HOST), embedded=True)).of_client


def test_of_a_disk_what_the_server_had_of_it_by_how_much_it_waited(monkeypatch, tmp_path):
    monkeypatch.setattr(confirm, "BLOCK", tmp_path)
    (tmp_path / "sda").mkdir()
    (tmp_path / "sda" / "dev").write_text("8:0\n")
    less = _less("disk", trial(reading(disk=10, client=6), **ABOUT))
    assert less.how == "400 reads/s left" and not less.of_client
    assert dict(less.limit.version2) == {"io.max": "8:0 riops=400"}
    others = _less("disk", trial(reading(5e6, disk=10, client=6), **ABOUT))
    assert others.how == "8 MB/s of reads left"
    half = _less("commit", trial(reading(disk=0.2, commit=0.3, client=15.5) | WRITING, **ABOUT))
    assert half.how == "800 reads/s left and 80 writes/s left"
    with pytest.raises(UserError, match="hardly anything was read from and written to sda"):
        _less("disk", trial(reading(disk=10) | {"process.mariadb.read_bytes_total": 10}, **ABOUT))


@pytest.mark.parametrize(
    ("limit", "made", "why"),
    [
        ("lock", trial(SERVER), "the limit 'lock' cannot be reduced"),
        ("disk", trial(), "nothing was observed"),
        ("server-cpu", trial(SERVER | host(IDLE_HOST)), "dbdyno did not start the server"),
        ("server-cpu", trial(SERVER, **ABOUT), "the number of usable CPUs was not observed"),
        ("disk", trial(SERVER, **ABOUT), "the device of the data was not observed"),
        ("disk", trial(reading(disk=10)), "dbdyno did not start the server"),
    ],
)
def test_why_nothing_can_be_taken(limit, made, why):
    with pytest.raises(UserError, match=why):
        _less(limit, made)


@pytest.fixture
def run(context, fake_load, fake_system, guard):
    """Run the first trial of the small experiment; returns its context, folder and what confirming it needs."""
    running = context(confirm_limit=True, ceiling=False)
    running.listener.__class__ = Heard
    running.listener.sentences = []
    first = expand(running.experiment, running.experiment.system)[0].trials[0]
    logs = running.folder.preparation("01-fake")
    system = build(first.system)
    system.start(Launch(guard, logs, 1, 1))
    facts = describe_system(system, running.experiment, 0.0)
    run_trial(running, Prepared(system, "01-fake", logs, facts), first)
    return running, system, running.folder.path / "trials" / first.name


class Heard(Listener):
    def limit_confirmed(self, sentence):
        self.sentences.append(sentence)


def test_what_cannot_be_taken_away_is_said(run):
    running, _, folder = run
    written = json.loads((folder / "confirmation.json").read_text())
    assert written == {
        "limit": "unexplained",
        "taken": TAKEN,
        "why_not": "the limit 'unexplained' cannot be reduced",
    }
    (sentence,) = running.listener.sentences
    assert "; not confirmed: the limit 'unexplained' cannot be reduced" in sentence


def test_how_far_throughput_followed_is_written_down_and_judged(run, monkeypatch):
    running, system, folder = run
    taken = []

    @contextmanager
    def limited(pids, limit, guard):
        assert all(os.path.exists(f"/proc/{pid}") for pid in pids)
        taken.append(limit)
        yield frozenset()

    monkeypatch.setattr(confirm, "limited", limited)
    monkeypatch.setattr(confirm, "_less", lambda limit, trial: _Less(cpu_limit(0.8), True, "0.80 of 1.00 left"))
    confirm_limit(running, system, plan_of(running, system), ["hidden"], folder)
    written = json.loads((folder / "confirmation.json").read_text())
    assert taken == [cpu_limit(0.8)] and written["why_not"] is None
    assert written["before_per_s"] == written["throughput_per_s"] == 1000 and written["followed"] == 0
    assert (running.folder.path / "confirmations" / folder.name / "records.jsonl").is_file()
    assert "with 20% of it removed (0.80 of 1.00 left), throughput changed by +0%" in running.listener.sentences[-1]


@pytest.mark.parametrize(("grows", "followed"), [(True, 0.0), (False, 0.0)])
def test_what_cannot_be_taken_away_is_changed_if_it_can_be(run, monkeypatch, grows, followed):
    running, system, folder = run
    made = []

    @contextmanager
    def changed():
        made.append("changed")
        yield
        made.append("changed back")

    plan = plan_of(running, system)
    change = Change("unexplained", "log=8 instead of 4", plan, changed, grows)
    monkeypatch.setattr(confirm, "change_of", lambda system, plan, trial, limit: change)
    confirm_limit(running, system, plan, ["hidden"], folder)
    written = json.loads((folder / "confirmation.json").read_text())
    assert made == ["changed", "changed back"]
    assert (written["taken"], written["why_not"], written["followed"]) == (None, None, pytest.approx(followed))
    assert "with log=8 instead of 4, throughput changed by +0%" in running.listener.sentences[-1]


def test_where_others_write_to_the_device_too_the_servers_writes_are_counted_first(run, monkeypatch):
    running, system, folder = run
    taken, asked = [], iter((100, 4100))

    @contextmanager
    def limited(pids, limit, guard):
        taken.append(dict(limit.version2)["io.max"])
        yield frozenset([folder])

    def less(limit, trial, writes_per_s=None):
        if writes_per_s is None:
            raise _OthersWrite("sda", "8:0")
        return _Less(disk_limit("8:0", {"write_iops": 0.8 * writes_per_s}), False, f"of {writes_per_s:.0f}")

    monkeypatch.setattr(confirm, "limited", limited)
    monkeypatch.setattr(confirm, "writes_to", lambda groups, device: next(asked))
    monkeypatch.setattr(confirm, "_less", less)
    confirm_limit(running, system, plan_of(running, system), ["hidden"], folder)
    written = json.loads((folder / "confirmation.json").read_text())
    completed = sum(interval.completed for interval in read_trial(folder).recorded.intervals)
    writes_per_s = 4000 / completed * 1000
    assert taken == ["8:0 wiops=1000000000", f"8:0 wiops={round(0.8 * writes_per_s)}"]
    assert (written["why_not"], written["followed"], written["how"]) == (None, 0, f"of {writes_per_s:.0f}")
    assert (running.folder.path / "confirmations" / f"{folder.name}-counted" / "records.jsonl").is_file()


def test_of_a_commit_what_was_counted_is_taken_from_by_how_much_it_waited(monkeypatch, tmp_path):
    monkeypatch.setattr(confirm, "BLOCK", tmp_path)
    (tmp_path / "sda").mkdir()
    (tmp_path / "sda" / "dev").write_text("8:0\n")
    writing = reading(commit=8, client=8) | WRITING | {"disk.sda.write_bytes_total": 5e6}
    with pytest.raises(_OthersWrite, match="other processes write to sda") as others:
        _less("commit", trial(writing, **ABOUT))
    assert others.value.device == "8:0"
    assert _less("commit", trial(writing, **ABOUT), 200).how == "400 reads/s left and 160 writes/s left"


def test_a_trial_that_dies_with_less_is_no_answer(run, monkeypatch, fake_load):
    running, system, folder = run
    monkeypatch.setattr(confirm, "_less", lambda limit, trial: _Less(cpu_limit(0.8), False, ""))
    fake_load(die="run")
    monkeypatch.setattr(confirm, "limited", lambda pids, limit, guard: contextmanager(lambda: iter([frozenset()]))())
    confirm_limit(running, system, plan_of(running, system), ["hidden"], folder)
    assert "SIGKILL" in json.loads((folder / "confirmation.json").read_text())["why_not"]
