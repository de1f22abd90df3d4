"""A program of the user's own is run like any other load client, and what is wrong with it ends in a line."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from dbdyno.conduct import watchdog
from dbdyno.conduct.load_client import Supervision, execute, why_it_failed
from dbdyno.conduct.own_client import RecordCheck, program_build, with_version
from dbdyno.conduct.plan import MEASURE, make_plan
from dbdyno.errors import RunFailed, UserError
from golden.stored import names, unpack
from helpers import experiment, workload

TIMES = {"count": 1, "sum_ns": 5, "min_ns": 5, "max_ns": 5, "buckets": [5, 1]}
DONE = {"completed": 1, "failed": 0}
COUNTED = DONE | {"service_time": TIMES}
HELLO = {
    **{"record": "hello", "contract": 1, "program": "mine", "version": "7", "profile": "release", "pid": 1},
    **{"transaction": "get", "operations": [{"name": "get", "operation": "get", "table": "bm"}], "threads": 1},
}
BEGIN = {"record": "phase", "phase": "run", "state": "begin", "at_unix_s": 1.5}
INTERVAL = {
    **{"record": "interval", "second": 0, "warmup": False, "seconds": 1.0, "connected": 1, "transactions": COUNTED},
    **{"operations": {"get": COUNTED}, "errors": {}, "reads_verified": 1, "mismatches": 0, "client_cpu_s": 0.5},
}
TOTAL = {
    **{"record": "total", "transactions": DONE | {"scheduled": 1, "unfinished": 0}, "operations": {"get": DONE}},
    **{"reads_verified": 1, "mismatches": 0, "seconds": 1.0, "in_flight_mean": None},
}
END = {"record": "end", "status": "complete", "reason": None}


def lines_of(*records):
    return "".join(f"{json.dumps(record)}\n" for record in records)


@pytest.fixture
def program(tmp_path):
    """Return a function that writes a program which executes these lines of a shell."""

    def write(*lines):
        path = tmp_path / "mine"
        path.write_text("\n".join(("#!/bin/sh", *lines, "")))
        path.chmod(0o755)
        return path

    return write


@pytest.fixture
def printing(program, tmp_path):
    """Return a function that writes a program which reads its plan and prints a text."""

    def write(text, status=0):
        (tmp_path / "text").write_text(text)
        return program("read plan", f"cat {tmp_path}/text", f"exit {status}")

    return write


@pytest.fixture
def run(guard, interrupts, tmp_path):
    """Return a function that has a program execute a plan."""

    def execute_plan(path):
        plan = make_plan(experiment().experiment, "run-1", MEASURE, {"kind": "fake"}, workload("game"), 2)
        plan = replace(plan, program=str(path))
        return execute(plan, ["hidden"], tmp_path, Supervision(guard, interrupts), lambda record: None)

    return execute_plan


def test_it_is_given_the_plan_and_its_records_are_kept(program, run, tmp_path):
    (tmp_path / "text").write_text(lines_of(HELLO, BEGIN, INTERVAL, TOTAL, END))
    came = tmp_path / "came"
    summary = run(program(f'echo "$@" > {came}', f"cat >> {came}", f"cat {tmp_path}/text"))
    assert (summary.transactions, summary.seconds, summary.exit_status) == (1, 1.0, 0)
    assert why_it_failed(summary, tmp_path) is None
    argument, plan, secrets = came.read_text().splitlines()
    assert (argument, json.loads(secrets)) == ("run", {"secrets": ["hidden"]})
    assert json.loads(plan) == json.loads((tmp_path / "plan.json").read_text())
    assert (tmp_path / "records.jsonl").read_text() == (tmp_path / "text").read_text()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("connecting\n", "mine wrote 'connecting', which is no record; text for people goes to stderr"),
        ("[1]\n", r"mine wrote '\[1\]', which is no record"),
        (lines_of(HELLO | {"contract": 2}), "mine speaks contract 2, this dbdyno 1"),
        (lines_of({"record": "nosuch"}), "mine: it wrote {'record': 'nosuch'}, which is none of the records"),
        (lines_of(HELLO | {"pid": "1"}), "mine: pid = '1' of its record 'hello' should be a valid integer"),
        (lines_of(HELLO | {"more": 1}), "mine: a record 'hello' has no key 'more'"),
        (lines_of({"record": "hello", "contract": 1}), "mine: its record 'hello' has no key 'program'"),
        (lines_of(INTERVAL), "mine wrote the record 'interval' before 'hello'"),
        (lines_of(HELLO, INTERVAL | {"second": 2}), "mine wrote the interval of second 2 instead of 0"),
        (lines_of(HELLO, INTERVAL | {"connected": -1}), "'interval' is wrong: it holds a number that no load client"),
        (lines_of(HELLO, INTERVAL | {"errors": {"odd": 1}}), "of its record 'interval' should be 'connect'"),
        (
            lines_of(HELLO, INTERVAL | {"transactions": DONE | {"service_time": TIMES | {"count": 2}}}),
            "a histogram's buckets do not add up",
        ),
        (
            lines_of(HELLO, INTERVAL | {"transactions": DONE | {"service_time": TIMES | {"buckets": [5, 2, 6, -1]}}}),
            "a histogram's bucket holds less than nothing",
        ),
        (lines_of(HELLO, BEGIN | {"at_unix_s": None}), "at_unix_s = None of its record 'phase' should be a valid num"),
        (lines_of(HELLO, {"record": "phase", "phase": "run", "state": "begin"}), "'phase' is wrong: it lacks 'at_uni"),
        (lines_of(HELLO, BEGIN, INTERVAL, END), "mine ended as complete without total"),
        (lines_of(HELLO, INTERVAL, TOTAL, END), "mine ended as complete without phase run"),
        (lines_of(HELLO, BEGIN, TOTAL, END), "mine ended as complete without interval"),
        (lines_of(END), "mine ended as complete without hello"),
        ("[" * 100_000 + "\n", "which is no record"),
    ],
)
def test_a_line_that_is_not_of_the_contract_ends_it_and_is_quoted(text, said, printing, run, tmp_path):
    with pytest.raises(RunFailed, match=said) as failed:
        run(printing(text))
    assert len(str(failed.value)) < 200
    kept = (tmp_path / "records.jsonl").read_text()
    assert text.startswith(kept) and kept != text


def test_a_line_without_an_end_is_not_read_for_ever(program, run, monkeypatch):
    monkeypatch.setattr("dbdyno.conduct.load_client._MOST_LINE_BYTES", 1 << 20)
    with pytest.raises(RunFailed, match="a line of more than 1 MiB"):
        run(program("cat /dev/zero"))


def test_a_refusal_is_told_in_its_words(printing, run, tmp_path):
    refused = {"record": "end", "status": "refused", "reason": "mine speaks to memcached alone"}
    summary = run(printing(lines_of(refused), status=2))
    assert summary.exit_status == 2
    assert why_it_failed(summary, tmp_path) == "mine speaks to memcached alone"


def test_one_that_ends_early_is_told_with_its_last_words(program, run, tmp_path):
    summary = run(program("read plan", "echo no such library >&2", "exit 3"))
    assert why_it_failed(summary, tmp_path) == "mine ended with status 3 before its end: no such library"


def test_one_that_says_nothing_is_given_up(program, run, monkeypatch, tmp_path):
    monkeypatch.setattr(watchdog, "GRACE_S", 0.2)
    summary = run(program("exec sleep 600"))
    said = why_it_failed(summary, tmp_path)
    assert re.fullmatch(r"mine did not begin to run within \d s and was given up", said)


def test_one_that_ignores_a_signal_does_not_keep_a_person(program, run, interrupts, monkeypatch, tmp_path):
    monkeypatch.setattr(watchdog, "STOPPED_S", -19.5)
    interrupts.requested = True
    summary = run(program("trap '' INT", "exec sleep 600"))
    assert "and was given up" in why_it_failed(summary, tmp_path)


def test_a_file_that_cannot_be_run_is_refused_with_the_reason(tmp_path):
    content = Path("/bin/true").read_bytes()
    files = {
        "text": (b"print('hello')\n", 0o755, r"text is no program; .*such as #!/usr/bin/env python3"),
        "closed": (b"#!/bin/sh\n", 0o644, r"closed is not executable: chmod \+x \S*closed"),
        "lost": (b"#!/usr/bin/nosuch -x\n", 0o755, "lost needs the program of its first line"),
        "bare": (b"#!\n", 0o755, "bare needs the program of its first line"),
        "arm": (content[:18] + b"\xb7\0" + content[20:], 0o755, "arm is a program for aarch64, and this host is"),
        "empty": (b"", 0o755, "empty is no program"),
    }
    for name, (bytes_, mode, said) in files.items():
        (tmp_path / name).write_bytes(bytes_)
        (tmp_path / name).chmod(mode)
        with pytest.raises(UserError, match=said):
            program_build(tmp_path / name)
    for path, said in ((tmp_path / "nosuch", "no such file"), (tmp_path, "is a directory")):
        with pytest.raises(UserError, match=said):
            program_build(path)


def test_it_is_described_by_path_and_sum_and_later_by_its_version(printing):
    path = printing("")
    build = program_build(path)
    assert (build["setting"], build["path"], build["version"]) == ("program", str(path), None)
    assert with_version(build, HELLO) == build | {"version": "7", "says": "mine 7"}
    assert with_version(build, None) == build and with_version(None, HELLO) is None
    library = build | {"setting": "library", "version": "3"}
    assert with_version(library, HELLO) == library


@pytest.mark.parametrize("name", names())
def test_records_of_dbdynos_own_load_clients_pass(name, tmp_path):
    for path in unpack(name, tmp_path).glob("trials/*/records.jsonl"):
        check = RecordCheck("any")
        for line in path.read_bytes().split(b"\n")[:-1]:
            check.read(line)
