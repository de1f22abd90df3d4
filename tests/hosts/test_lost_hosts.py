"""A host that is killed, frozen or cut off, in each role and each phase of a run: the trial is invalid, the host is
named, and nothing is left running or on disk."""

import json
import signal
import time
from pathlib import Path

import pytest

from dbdyno.results.read import read_trial
from helpers import need
from hosts.namespaces import need_namespaces
from hosts.stage import Stage

FAULTS = ("killed", "frozen", "cut off")
PHASES = ("start", "load", "warm-up", "measurement", "verification")
LOST = {"client": "c2", "server": "s1"}
SAMPLE = [("killed", "client", "measurement"), ("cut off", "server", "measurement")]
CASES = [(fault, role, phase) for role in LOST for phase in PHASES for fault in FAULTS]
PROMISED_S = {"killed": 2.0, "frozen": 20.0, "cut off": 20.0}
"""Within this time a trial is invalid, and what the lost host ran has ended."""
SLACK_S = 15.0
"""For a crowded machine."""


@pytest.fixture
def stage(tmp_path):
    need_namespaces()
    need("mariadb")
    with Stage(tmp_path, ["c1", "c2"], ["s1"], wait_seconds=45) as stage:
        stage.wait_for(lambda: all("waiting" in (tmp_path / f"{name}.log").read_text() for name in ("c1", "c2", "s1")))
        yield stage


def has_come(stage: Stage, phase: str) -> bool:
    """Return whether a run is in a phase, by what it has written so far."""
    preparations = list(stage.folder.glob("runs/*/preparations/*"))
    if phase == "start":
        return bool(preparations)
    if phase == "load":
        return any('"load"' in text_of(folder / "records.jsonl") for folder in preparations)
    if phase == "verification":
        return any((trial / "verify" / "plan.json").exists() for trial in stage.trials())
    seconds = [json.loads(line) for line in live_of(stage) if '"interval"' in line]
    return any(second["warmup"] == (phase == "warm-up") for second in seconds)


def live_of(stage: Stage) -> list[str]:
    """Return the whole lines that client hosts told so far."""
    texts = [text_of(path) for trial in stage.trials() for path in trial.glob("hosts/*/live.jsonl")]
    return [line for text in texts for line in text[: text.rfind("\n") + 1].splitlines()]


def text_of(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def lose(stage: Stage, fault: str, name: str) -> None:
    """Lose a host. Of a frozen one its agent runs on, to show that it stops the rest when the worker is missed."""
    match fault:
        case "killed":
            stage.worker(name).kill()
        case "frozen":
            stage.worker(name).send_signal(signal.SIGSTOP)
            # Else its server would answer, and might be verified before the worker is missed.
            for server in stage.servers_on(name):
                server.send_signal(signal.SIGSTOP)
        case "cut off":
            stage.hosts.cut(name)


def check_lost(stage: Stage, fault: str, role: str, phase: str) -> None:
    """Lose a host in a phase, and check what becomes of the run and of the host."""
    name = LOST[role]
    # Enough that a host is lost before all rows are verified.
    rows = "1000000" if phase == "verification" else "40000"
    running = stage.start(
        *("game", "--system", "mariadb", "--clients", "4", "--rows", rows),
        *("--set", "warmup_seconds=3", "--seconds", "4" if phase == "verification" else "600"),
    )
    stage.wait_for(lambda: has_come(stage, phase) or running.poll() is not None)
    lose(stage, fault, name)
    lost_s = time.monotonic()
    stage.wait_for(lambda: not stage.running_on(name))
    stopped_s = time.monotonic() - lost_s
    said = running.communicate()[0].decode()
    ended_s = time.monotonic() - lost_s
    if role == "client" and phase == "verification":
        # Its part was over.
        assert running.returncode == 0, said
    else:
        assert running.returncode == 1, said
        assert f"{name}" in said, said
    if phase in ("warm-up", "measurement"):
        (folder,) = stage.trials()
        trial = read_trial(folder)
        assert trial.state == "failed" and trial.reason.startswith(f"host {name}: lost: "), trial.reason
        assert (folder / "hosts" / "c2" / "live.jsonl").read_text()
        assert ended_s < PROMISED_S[fault] + SLACK_S
    assert stopped_s < 20.0 + SLACK_S
    if fault == "frozen":
        stage.worker(name).send_signal(signal.SIGCONT)
    stage.wait_for(stage.is_clean)


@pytest.mark.parametrize(("fault", "role", "phase"), SAMPLE)
def test_a_lost_host_makes_the_trial_invalid(stage, fault, role, phase):
    check_lost(stage, fault, role, phase)


@pytest.mark.systems
@pytest.mark.parametrize(("fault", "role", "phase"), [case for case in CASES if case not in SAMPLE])
def test_a_host_may_be_lost_in_any_phase(stage, fault, role, phase):
    check_lost(stage, fault, role, phase)


@pytest.mark.systems
@pytest.mark.parametrize("fault", ["killed", "frozen"])
def test_a_conductor_that_is_lost_ends_everything(stage, fault):
    running = stage.start("game", "--system", "mariadb", "--clients", "4", "--rows", "100", "--seconds", "600")
    stage.wait_for(lambda: has_come(stage, "measurement"))
    running.send_signal(signal.SIGKILL if fault == "killed" else signal.SIGSTOP)
    lost_s = time.monotonic()
    stage.wait_for(stage.is_clean)
    assert time.monotonic() - lost_s < 20.0 + SLACK_S
