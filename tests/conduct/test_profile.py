"""Stacks are recorded under the trial's load, after it, and no figure has anything of it."""

import json
import subprocess
import sys
from types import SimpleNamespace

import pytest

from dbdyno.conduct import profile as profiling
from dbdyno.conduct.preparation import describe_system
from dbdyno.conduct.trial import Prepared, run_trial
from dbdyno.experiment.trials import expand
from dbdyno.observe.stacks import window
from dbdyno.observe.stacks.counters import EVENTS
from dbdyno.observe.stacks.fold import Folded
from dbdyno.observe.stacks.permission import OFF_CPU, ON_CPU
from dbdyno.results.read import read_trial
from dbdyno.systems import build
from dbdyno.systems.base import Launch
from helpers import need_stacks

WINDOW_LOAD = f'"duration_s": {1 + profiling._MARGIN_S}'


@pytest.fixture
def profiled(context, fake_load, fake_system, guard, monkeypatch):
    """Run a trial with `profile = true` and a busy process for a server; returns its outcome, folder and document."""
    monkeypatch.setattr(profiling, "WINDOW_S", 1)

    def run(**behaviour):
        fake_load(**behaviour)
        running = context(profile=True, ceiling=False)
        trial = expand(running.experiment, running.experiment.system)[0].trials[0]
        logs = running.folder.preparation("01-fake")
        system = build(trial.system)
        system.start(Launch(guard, logs, 1, 1))
        with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as server:
            monkeypatch.setattr(system, "server_pids", lambda: {"fake": server.pid}, raising=False)
            try:
                facts = describe_system(system, running.experiment, 0.0)
                outcome = run_trial(running, Prepared(system, "01-fake", logs, facts), trial)
            finally:
                server.kill()
        folder = running.folder.path / "trials" / trial.name
        return outcome, folder, json.loads((folder / "profile" / "profile.json").read_text())

    return run


class Nothing:
    """A recording that sees nothing, or a counting."""

    def __init__(self, pids, data, seconds, every=1):
        self.process = SimpleNamespace(pid=pids[0])

    def stop(self):
        """It has ended."""

    def folded(self):
        return Folded()

    def per_s(self):
        """Return that 5,000 events a second were counted of one kind, and nothing of another."""
        return {"instructions": 5000.0, "cache_misses": None}


@pytest.fixture
def blind(monkeypatch):
    """Have nothing recorded, on any host."""
    monkeypatch.setattr(window, "not_seen", dict)
    monkeypatch.setattr(window, "Recording", Nothing)
    monkeypatch.setattr(window, "Counting", Nothing)


def test_server_and_client_are_seen_at_work(profiled):
    need_stacks()
    _, folder, document = profiled(second_s=1, only_if=WINDOW_LOAD)
    assert document["not_seen"] == []
    assert set(document["stacks"]) == {f"{name}-{kind}" for name in ("server", "client") for kind in (ON_CPU, OFF_CPU)}
    assert document["stacks"]["server-on-cpu"]["samples"] > 0
    lines = (folder / "profile" / "server-on-cpu.folded").read_text().splitlines()
    assert all(line.startswith("python") and int(line.rpartition(" ")[2]) > 0 for line in lines)
    assert document["transactions_per_s"] == 1000
    # What a processor does not show is null.
    assert document["counters"].keys() == {"server", "client"}
    assert document["counters"]["server"].keys() == set(EVENTS)
    unnamed = document["stacks"]["server-on-cpu"]["unnamed"]
    assert all(
        0.01 <= code_file["share"] <= 1 and code_file.keys() == {"file", "share", "package"} for code_file in unnamed
    )


def test_what_happens_in_the_window_is_in_no_figure(profiled, blind):
    outcome, folder, _ = profiled(errors=5, only_if=WINDOW_LOAD)
    assert outcome.right and outcome.transactions == 2000
    assert not read_trial(folder).recorded.errors
    records = (folder / "profile" / "records.jsonl").read_text()
    assert '"errors": {"server": 5}' in records


def test_events_of_the_processor_are_told_for_a_transaction(profiled, blind):
    _, _, document = profiled(second_s=1, only_if=WINDOW_LOAD)
    assert document["transactions_per_s"] == 1000
    assert set(document["counters"]) == {"server", "client"}
    assert all(of == {"instructions": 5.0, "cache_misses": None} for of in document["counters"].values())


def test_what_is_not_permitted_is_said_and_nothing_fails(profiled, monkeypatch):
    monkeypatch.setattr(window, "not_seen", lambda: dict.fromkeys((ON_CPU, OFF_CPU), "no perf"))
    outcome, folder, document = profiled()
    assert outcome.right and document["stacks"] == {}
    assert document["not_seen"] == [{"what": what, "reason": "no perf"} for what in (ON_CPU, OFF_CPU)]
    assert not (folder / "profile" / "records.jsonl").exists()


def test_a_load_that_dies_in_the_window_is_said_and_the_trial_stands(profiled, blind):
    outcome, _, document = profiled(die="run", only_if=WINDOW_LOAD)
    assert outcome.right
    assert "SIGKILL" in {entry["what"]: entry["reason"] for entry in document["not_seen"]}["load"]


def test_a_run_says_once_what_it_cannot_see(context, monkeypatch):
    said = []
    monkeypatch.setattr(profiling, "not_seen", lambda: dict.fromkeys((ON_CPU, OFF_CPU), "not permitted"))
    for profile in (True, False):
        running = context(profile=profile)
        monkeypatch.setattr(running.listener, "not_seen", lambda *what: said.append(what))
        profiling.announce(running)
    assert said == [("on-cpu and off-cpu stacks", "not permitted")]
