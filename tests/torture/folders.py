"""Check a disturbed run's folder: it can be read, says the right state, and has all that was recorded."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SHOW_TIMEOUT_S = 60
STATE_OF_STATUS = {0: {"complete"}, 1: {"failed"}, 130: {"interrupted"}}
"""The state in a run's folder, by the status that dbdyno ended with (docs/run-folder.md, `state`)."""
OF_A_KILLED_RUN = {"running", "complete", "failed", "interrupted"}
"""A kill leaves it at what it was: dbdyno may have written its last state already."""


FIRST_WRITTEN = {"run.json.partial"}
_RECORDED = re.compile(r"The run is (\w+) and recorded")
"""The words of dbdyno if it is interrupted when a run has ended and its report is not written yet."""


def check_folder(out: Path, dbdyno: list[str], status: int | None, said: str) -> Iterator[str]:
    """Yield what is wrong with the one run in `out`.

    dbdyno: the beginning of its command line. status: what its run ended with; None: it was killed. said: its output.
    """
    if status is None:
        states = OF_A_KILLED_RUN
    elif recorded := _RECORDED.search(said):
        states = {recorded[1]}
    else:
        states = STATE_OF_STATUS.get(status, {"interrupted"})
    # One that ends before it has anything to record makes none, or is killed while it writes the first file.
    runs = [path for path in out.glob("*") if path.is_dir() and {file.name for file in path.iterdir()} - FIRST_WRITTEN]
    if not runs and status == 0:
        yield "dbdyno ended with status 0 and there is no run's folder"
    for run in runs:
        # Both at once, as each takes most of its time to begin.
        commands = [[*dbdyno, "show", *options, str(run)] for options in ((), ("--json",))]
        started = [
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for command in commands
        ]
        answers = [process.communicate(timeout=SHOW_TIMEOUT_S) for process in started]
        for command, process, (output, errors) in zip(commands, started, answers, strict=True):
            if process.returncode not in (0, 1, 130) or "Traceback" in errors or not output.strip():
                said = (errors.strip().splitlines() or ["nothing"])[-1]
                yield f"dbdyno {' '.join(command[len(dbdyno) : -1])} of the run failed ({process.returncode}): {said}"
                return
        document = json.loads(answers[1][0])
        if document["state"] not in states:
            yield f"dbdyno ended with status {status}, but its run says {document['state']}"
        yield from _check_document(run, document)


def _check_document(run: Path, document: dict[str, Any]) -> Iterator[str]:
    """Yield where what dbdyno says of the run is not what is in its folder."""
    trials = {trial["trial"]: trial for trial in document["trials"]}
    for folder in sorted((run / "trials").glob("*")):
        if not (folder / "trial.json").is_file():
            continue
        recorded = intervals(folder / "records.jsonl")
        if folder.name not in trials:
            yield f"trial {folder.name} is recorded and not shown"
        elif len(trials[folder.name]["timeline"]) != recorded:
            yield f"trial {folder.name} has {recorded} seconds recorded, {len(trials[folder.name]['timeline'])} shown"


def intervals(records: Path) -> int:
    """Return how many seconds a file of records holds; a last line that a kill cut short is none."""
    try:
        *lines, _ = records.read_bytes().split(b"\n")
    except FileNotFoundError:
        return 0
    return sum(json.loads(line)["record"] == "interval" for line in lines)


def complete_in_spite(out: Path, struck_unix_s: float) -> Iterator[str]:
    """Yield each trial that counts as complete although its server was killed while its load ran."""
    for folder in out.glob("*/trials/*"):
        about, records = folder / "trial.json", folder / "records.jsonl"
        if not about.is_file() or not records.is_file() or (trial := json.loads(about.read_bytes())).get("crash"):
            continue
        phases = [record for record in map(json.loads, records.read_bytes().split(b"\n")[:-1]) if "phase" in record]
        times = {
            phase["state"]: phase["at_unix_s"] for phase in phases if phase["phase"] == "run" and "at_unix_s" in phase
        }
        begins, ends = times.get("start", struck_unix_s), times.get("end", struck_unix_s)
        if trial["state"] == "complete" and begins < struck_unix_s < ends - 0.1:
            yield f"trial {folder.name} is complete although its server was killed in it"
