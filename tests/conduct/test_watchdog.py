"""A load client without a server ends soon, and one that does nothing is given up."""

import json
import os
import signal
import subprocess
import time
from types import SimpleNamespace

import pytest

from dbdyno.conduct import watchdog
from dbdyno.conduct.listener import Listener
from dbdyno.conduct.plan import Plan
from dbdyno.conduct.run import conduct
from dbdyno.systems.running import process
from helpers import experiment, need

STORES = ["redis", "memcached", "mariadb", "postgresql", "sqlite"]
SECONDS = 60


class Meddler(Listener):
    """Sends a signal once the load has gone on for a second; sent_at: when."""

    def __init__(self, number, whom):
        self._number, self._whom, self.sent_at, self._client = number, whom, None, None

    def record_came(self, record):
        if record["record"] == "hello":
            self._client = record["pid"]
        if record["record"] == "interval" and self.sent_at is None:
            self.sent_at = time.monotonic()
            os.kill(self._whom(self._client), self._number)


def trial_of(end):
    (file,) = end.folder.glob("trials/*/trial.json")
    return json.loads(file.read_text())


def server_of(tmp_path):
    """Return what finds the server that the run which goes on has started."""

    def server(_):
        (file,) = tmp_path.glob("*/trials/*/trial.json")
        (pid,) = json.loads(file.read_text())["server_pids"].values()
        return pid

    return server


def run(name, meddler, tmp_path, **keys):
    need(name)
    small = {"workload": "point-get", "system": name, "clients": [4], "rows": 100, "seconds": SECONDS, "ceiling": False}
    return conduct(experiment(**{**small, "warmup_seconds": 0, "host": False, **keys}), "", tmp_path, meddler)


@pytest.mark.parametrize("name", STORES[:4])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_server_that_dies_or_stays_stopped_ends_the_trial(name, number, tmp_path, monkeypatch):
    monkeypatch.setattr(process, "STOPPED_TIMEOUT_S", 0.5)
    meddler = Meddler(number, server_of(tmp_path))
    end = run(name, meddler, tmp_path)
    trial = trial_of(end)
    how = "was killed by SIGKILL" if number == signal.SIGKILL else "was stopped by a signal (SIGSTOP) and was given up"
    assert trial["state"] == "failed" and f"{name} {how} during the trial" in trial["reason"]
    assert trial["ended_unix_s"] - trial["started_unix_s"] < SECONDS / 2


def test_a_server_that_is_stopped_and_goes_on_is_a_stall(tmp_path):
    class Stalling(Meddler):
        def record_came(self, record):
            super().record_came(record)
            if self.sent_at and record["record"] == "interval" and not record["transactions"]["completed"]:
                os.kill(self._whom(None), signal.SIGCONT)

    end = run("redis", Stalling(signal.SIGSTOP, server_of(tmp_path)), tmp_path, seconds=4)
    assert end.state == trial_of(end)["state"] == "complete"
    records = [json.loads(line) for line in next(end.folder.glob("trials/*/records.jsonl")).open()]
    assert 0 in [record["transactions"]["completed"] for record in records if record["record"] == "interval"]


@pytest.mark.parametrize("name", STORES)
def test_a_load_client_that_is_stopped_is_given_up(name, tmp_path, monkeypatch):
    monkeypatch.setattr(watchdog, "STOPPED_S", 0.5)
    meddler = Meddler(signal.SIGSTOP, lambda client: client)
    trial = trial_of(run(name, meddler, tmp_path))
    assert trial["state"] == "failed" and "dbdyno-load was stopped by a signal (SIGSTOP) for" in trial["reason"]
    assert trial["ended_unix_s"] - trial["started_unix_s"] < SECONDS / 2


def test_a_load_client_that_does_not_end_is_given_up(fake_load, fake_system, tmp_path, monkeypatch):
    monkeypatch.setattr(watchdog, "GRACE_S", -19.5)
    fake_load(await_file=str(tmp_path / "never"))
    end = conduct(experiment(clients=[1], seconds=1, warmup_seconds=0), "", tmp_path, Listener())
    assert trial_of(end)["reason"].startswith("dbdyno-load did not end within")


@pytest.fixture
def clock(monkeypatch):
    """A clock that a test moves, in seconds."""
    now = [1000.0]
    monkeypatch.setattr(watchdog, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def test_after_a_signal_the_load_must_end_and_what_follows_may_take_its_time(interrupts, clock):
    plan = Plan(("run",), {}, None, "run-1", duration_s=3600, operation_timeout_s=10)
    sleeper = subprocess.Popen(["sleep", "600"], process_group=0)
    watching = watchdog.Watchdog(sleeper.pid, plan, interrupts, None)
    interrupts.requested = True
    watching.look()
    clock[0] += 3000
    watching.look()
    assert watching.given_up is None
    watching.record_came({"record": "phase", "phase": "run", "state": "begin"})
    watching.look()
    clock[0] += 31
    watching.look()
    assert "did not end within 31 s" in watching.given_up and sleeper.wait() == -signal.SIGKILL


def test_a_stopped_load_client_does_not_keep_a_person_who_wants_the_end(tmp_path):
    class Leaving(Meddler):
        def record_came(self, record):
            super().record_came(record)
            if self.sent_at:
                os.kill(os.getpid(), signal.SIGTERM)

    end = run("redis", Leaving(signal.SIGSTOP, lambda client: client), tmp_path)
    assert end.state == trial_of(end)["state"] == "interrupted"
