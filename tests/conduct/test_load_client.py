"""The load client's records are kept as they come, and its end is reported."""

import json
import os
import resource
import signal
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from dbdyno.conduct import load_client
from dbdyno.conduct.load_client import (
    SETTLE_S,
    Summary,
    Supervision,
    execute,
    find_load_client,
    load_client_version,
    readable,
    why_it_failed,
)
from dbdyno.conduct.plan import MEASURE, make_plan
from dbdyno.errors import RunFailed, UserError
from dbdyno.observe.observer import Observed, Observer
from dbdyno.results.observations import read_observations
from dbdyno.results.write import Lines
from dbdyno.systems.running.guard import Guard
from helpers import experiment, workload


@pytest.fixture
def run(fake_load, guard, interrupts, tmp_path):
    """Have the fake load client execute a plan; returns the summary and the records that were heard."""

    def execute_plan(secrets=(), observer=None, **behaviour):
        fake_load(**behaviour)
        plan = make_plan(experiment().experiment, "run-1", MEASURE, {"kind": "fake"}, workload("game"), 2)
        heard = []
        return execute(plan, list(secrets), tmp_path, Supervision(guard, interrupts), heard.append, observer), heard

    return execute_plan


def kept(folder):
    return [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]


def test_records_are_kept_and_heard_as_they_came(run, tmp_path):
    summary, heard = run()
    assert kept(tmp_path) == heard
    assert [heard[0]["record"], heard[-1]["record"]] == ["hello", "end"]
    assert (summary.transactions, summary.seconds, summary.errors, summary.exit_status) == (4000, 2.0, {}, 0)
    assert why_it_failed(summary, tmp_path) is None


def test_errors_and_mismatches_count_the_warm_up_too(run):
    summary, _ = run(errors=2, mismatches=1)
    assert (summary.errors, summary.mismatches) == ({"server": 6}, 3)


def test_a_check_that_is_not_right_is_told(run):
    summary, _ = run(wrong_check=True)
    assert [check["found"] for check in summary.wrong_checks] == [9]


def test_a_kill_leaves_what_was_recorded_and_is_told(run, tmp_path):
    summary, heard = run(die="verify")
    assert kept(tmp_path) == heard and heard[-1]["record"] == "phase"
    assert why_it_failed(summary, tmp_path) == "dbdyno-load was killed by SIGKILL before its end: about to die"


@pytest.mark.parametrize(
    ("behaviour", "pauses_s"), [({"die": "verify"}, [SETTLE_S]), ({"refuse": "run"}, []), ({}, [])]
)
def test_only_a_killed_client_is_followed_by_a_pause(run, monkeypatch, behaviour, pauses_s):
    slept_s = []
    monkeypatch.setattr(load_client, "time", SimpleNamespace(sleep=slept_s.append))
    run(**behaviour)
    assert [seconds for seconds in slept_s if seconds == SETTLE_S] == pauses_s


def test_a_crash_is_told_with_its_likely_cause(tmp_path):
    (tmp_path / "load.log").touch()
    crashed = why_it_failed(Summary(exit_status=-signal.SIGSEGV), tmp_path)
    killed = why_it_failed(Summary(exit_status=-signal.SIGKILL), tmp_path)
    assert crashed.endswith("SIGSEGV before its end; a library in it may have crashed on what the store sent")
    assert killed.endswith("SIGKILL before its end")


def test_a_refusal_is_told_with_its_reason(run, tmp_path):
    summary, _ = run(refuse="run")
    assert summary.exit_status == 2
    assert "without dbdyno's marker" in why_it_failed(summary, tmp_path)


def test_another_contract_is_refused_and_the_client_ended(run, tmp_path):
    with pytest.raises(RunFailed, match="speaks contract 2, this dbdyno 1"):
        run(contract=2, await_file=str(tmp_path / "never"))


def test_secrets_are_in_no_file(run, tmp_path):
    run(secrets=["hidden"])
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and "hidden" in path.read_text()]


def test_a_client_that_does_not_read_its_plan_is_a_failed_trial(run, monkeypatch, tmp_path):
    monkeypatch.setattr(load_client, "find_load_client", lambda: Path("/bin/false"))
    summary, _ = run(secrets=["x" * 1_000_000])
    assert why_it_failed(summary, tmp_path) == "dbdyno-load ended with status 1 before its end"


def test_client_and_servers_are_observed(run, tmp_path):
    run(observer=Observer(Observed({"server": os.getpid()}), tmp_path), second_s=0.1)
    names = read_observations(tmp_path).names("process.")
    assert {"process.client.threads", "process.server.threads"} <= set(names)


def test_the_guard_knows_the_client_before_it_has_its_plan(run, monkeypatch):
    happened, feed = [], load_client.feed

    def noted(process, text):
        happened.append(f"fed {process.pid}")
        feed(process, text)

    monkeypatch.setattr(load_client, "feed", noted)
    monkeypatch.setattr(Guard, "tell", lambda self, verb, what: happened.append(f"{verb} {what}"))
    run()
    pid = happened[0].removeprefix("pid ")
    assert happened == [f"pid {pid}", f"fed {pid}", f"done {pid}"]


def test_without_an_observer_nothing_is_observed(run, tmp_path):
    run()
    assert read_observations(tmp_path) is None


def test_a_full_disk_ends_the_client(run, monkeypatch, tmp_path):
    def full(self, line):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Lines, "append", full)
    with pytest.raises(OSError):
        run(await_file=str(tmp_path / "never"))


def test_where_it_is_looked_for(monkeypatch, tmp_path):
    program = tmp_path / "dbdyno-load"
    program.write_text("#!/bin/sh\necho dbdyno-load 9.9\n")
    program.chmod(0o755)
    monkeypatch.setenv("DBDYNO_LOAD", str(program))
    assert find_load_client() == program
    assert load_client_version(program) == "dbdyno-load 9.9"
    monkeypatch.setenv("DBDYNO_LOAD", str(tmp_path / "nothing"))
    with pytest.raises(UserError, match="no program is there"):
        find_load_client()
    monkeypatch.delenv("DBDYNO_LOAD")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert find_load_client() == program


def test_a_descriptor_above_those_of_select_is_read():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    high = 1100
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, high + 1), hard))
    reader, writer = os.pipe()
    try:
        os.dup2(reader, high)
        assert not readable(high, 0)
        os.write(writer, b"a line")
        assert readable(high, 0)
    finally:
        for descriptor in (reader, writer, high):
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_program_that_does_not_run_is_an_error():
    with pytest.raises(UserError, match="does not run"):
        load_client_version(Path("/bin/false"))


def test_a_plan_with_a_library_goes_to_the_python_load_client(guard, interrupts, tmp_path):
    store = {
        "kind": "mysql",
        "address": {"host": "127.0.0.1", "port": 1},
        "user": "u",
        "password": None,
        "database": "d",
    }
    plan = make_plan(experiment().experiment, "run-1", MEASURE, store, workload("game"), 2)
    heard = []
    summary = execute(replace(plan, library="pymysql"), [], tmp_path, Supervision(guard, interrupts), heard.append)
    assert heard[0]["program"] == "dbdyno-load-python" and heard[0]["library"].startswith("PyMySQL")
    assert "Can't connect" in why_it_failed(summary, tmp_path) and summary.exit_status == 1
