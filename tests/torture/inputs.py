"""The fuzzer of inputs: files of experiments, command lines and run folders, mutated, against the commands themselves.

`python -m torture inputs` runs them as a part of the suite; `python -m torture.inputs --cases N --json FILE` alone,
with more counts. Cases run in this process, a share of them once more as programs of their own.
A finding is a traceback, a warning of Python's, a case of more than 10 s, or more than 500 MB of data. So is an exit
status other than 0, 1 and 2. No server of a database is started: every command ends where it would start one, connect,
measure, download, or wait for Ctrl-C.
"""

from __future__ import annotations

import argparse
import gc
import io
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from dbdyno.cli import aa, bisect, ci, host, program, serve, systems_check, systems_install, systems_remove, worker
from dbdyno.cli import clean as clean_command
from dbdyno.cli import report as report_command
from dbdyno.cli import run as run_command
from dbdyno.cli import watch as watch_command
from dbdyno.conduct.resolve import resolve
from dbdyno.errors import UserError
from dbdyno.experiment.read import NamedExperiment
from dbdyno.experiment.trials import expand
from dbdyno.experiment.write import to_toml
from dbdyno.observe import doctor
from dbdyno.systems import build
from torture.inputs_cases import Inputs, command_case, experiment_case, gathered, run_case
from torture.inputs_corpus import experiments, runs
from torture.part import Part, Report, dice

MOST_S, MOST_BYTES = 10, 500 << 20
STATUSES = (0, 1, 2)
FINDINGS = ("traceback", "hang", "memory", "status", "warning")
KINDS: dict[str, tuple[Callable[[Inputs, Random], list[str]], float]] = {
    "experiment files": (experiment_case, 0.5),
    "command lines": (command_case, 0.4),
    "run folders": (run_case, 0.1),
}
"""The maker of each kind of case, and its share of all."""
PROGRAM_EACH = 400
"""One of so many cases runs as a separate program."""
STOPS = "this is as far as an input goes"


class Hang(BaseException):
    """A case took too long; no handler of the commands takes it for an error of theirs."""


@dataclass
class Counts:
    """The fuzzer's counts beside cases and findings, by kind of input."""

    seconds: Counter[str] = field(default_factory=Counter)
    programs: Counter[str] = field(default_factory=Counter)
    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    findings: Counter[tuple[str, str]] = field(default_factory=Counter)
    sorts: Counter[str] = field(default_factory=Counter)
    slowest: tuple[float, int] = (0.0, 0)


def run(seed: int, cases: range, report: Report, counts: Counts | None = None, recorded: bool = True) -> None:
    """Run cases; recorded: with folders of real runs too, which take a minute or two to record."""
    counts = counts or Counts()
    with ExitStack() as changed:
        folder = changed.enter_context(tempfile.TemporaryDirectory(dir=_memory()))
        changed.enter_context(chdir(folder))
        changed.enter_context(patch.dict(os.environ, {"XDG_DATA_HOME": folder, "COLUMNS": "100"}))
        changed.enter_context(patch.object(sys, "argv", sys.argv))
        inputs = gathered(Path(folder), experiments(), runs(Path(folder) / "good", recorded))
        _without_servers(changed)
        changed.enter_context(warnings.catch_warnings())
        warnings.simplefilter("always", RuntimeWarning)
        changed.enter_context(_limited_memory())
        for case in cases:
            if report.out_of_time:
                return
            _one(inputs, seed, case, report, counts)


PART = Part("inputs", "inputs", full=100_000, short=80, run=run)


def _memory() -> str | None:
    """Return where files are fastest: a file system in memory, if there is one."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def _without_servers(changed: ExitStack) -> None:
    """Have every command end where it would start, connect to, measure or download something."""

    def reached(*_: Any, **__: Any) -> Any:
        raise UserError(STOPS)

    def resolved(named: NamedExperiment, *_: Any, **__: Any) -> Any:
        expand(named.experiment, resolve(named.experiment).systems)
        to_toml(named.experiment)
        reached()

    ends: dict[Any, dict[str, Any]] = {
        run_command: {"run_experiment": resolved},
        aa: {"run_experiment": resolved},
        ci: {"run_experiment": resolved},
        bisect: {"measured": reached},
        serve: {"threading": SimpleNamespace(Event=reached)},
        watch_command: {"LiveObserver": reached},
        worker: {"serve": reached},
        clean_command: {"clean": lambda spec, *_: (build(spec), reached())},
        host: {"measure_host": reached},
        systems_install: {"install": reached},
        systems_remove: {"remove": reached},
        systems_check: {"_checked": reached},
        # It looks at the processors for a second, and pictures start a browser: no input changes what these do.
        doctor: {"_busy": lambda: iter(())},
        report_command: {"write_pictures": lambda run, folder: []},
    }
    for module, names in ends.items():
        changed.enter_context(patch.multiple(module, **names))


@contextmanager
def _limited_memory() -> Iterator[None]:
    """Limit what this process may have of data beyond what libraries have already."""
    lines = Path("/proc/self/status").read_text().splitlines()
    used = next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmData"))
    before, most = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (used + MOST_BYTES, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (before, most))


def _one(inputs: Inputs, seed: int, case: int, report: Report, counts: Counts) -> None:
    random, made = dice(seed, case), time.monotonic()
    kind = random.choices(list(KINDS), [share for _, share in KINDS.values()])[0]
    line = KINDS[kind][0](inputs, random)
    report.case(kind)

    def add_finding(finding: str, what: str) -> None:
        counts.findings[kind, finding] += 1
        counts.sorts[f"{finding}: {what}"] += 1
        report.finding(kind, case, f"{finding}: {what}: dbdyno {' '.join(line)[:200]!r}")

    began = time.monotonic()
    said = io.TextIOWrapper(io.BytesIO(), "utf-8", errors="replace")
    try:
        with _limited_time(), redirect_stdout(said), redirect_stderr(said):
            sys.argv = ["dbdyno", *line]
            status = program.run(line)
    except Hang as hang:
        add_finding("hang", _where(hang))
    except MemoryError as error:
        add_finding("memory", _where(error))
    except BaseException as error:
        add_finding("traceback", f"{type(error).__name__} at {_where(error)}")
    else:
        counts.statuses[kind, status] += 1
        if status not in STATUSES:
            add_finding("status", f"{status} of {line[:1]}")
    said.flush()
    text = said.buffer.getvalue().decode(errors="replace")
    goes_on = STOPS in text
    if warned := re.search(r"\w{0,40}\.py:\d+: \w*Warning: .*", text):
        add_finding("warning", warned[0])
    counts.slowest = max(counts.slowest, (time.monotonic() - began, case))
    if case % PROGRAM_EACH == 0 and not goes_on and line[0] not in ("host", "systems"):
        counts.programs[kind] += 1
        _as_program(line, add_finding)
    counts.seconds[kind] += time.monotonic() - made
    if case % PROGRAM_EACH == 0:
        gc.collect()


@contextmanager
def _limited_time() -> Iterator[None]:
    def late(*_: object) -> None:
        raise Hang

    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, MOST_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _where(error: BaseException) -> str:
    """Return the last place of dbdyno's own in a traceback."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "/dbdyno/" in frame.filename] or frames
    return f"{Path(own[-1].filename).name}:{own[-1].lineno} {own[-1].name}" if own else "nowhere"


def _as_program(line: list[str], add_finding: Callable[[str, str], None]) -> None:
    """Run a case as a separate program, with its memory limited."""

    def limit() -> None:
        # The limit also counts the data of an interpreter with all libraries.
        resource.setrlimit(resource.RLIMIT_DATA, (2 * MOST_BYTES, 2 * MOST_BYTES))

    command = [sys.executable, "-m", "dbdyno", *line]
    try:
        done = subprocess.run(command, capture_output=True, timeout=6 * MOST_S, preexec_fn=limit, check=False)
    except subprocess.TimeoutExpired:
        add_finding("hang", "as a program")
        return
    if b"Traceback" in done.stderr:
        add_finding("traceback", f"as a program: {done.stderr.decode(errors='replace').splitlines()[-1][:100]}")
    elif done.returncode not in STATUSES:
        add_finding("status", f"as a program: {done.returncode}")


def main() -> int:
    """Run the requested cases and print their outcome."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=PART.full)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only-written", action="store_true", help="record no runs of real stores to begin with")
    parser.add_argument("--json", type=Path, help="write the counts there")
    parser.add_argument("--markdown", type=Path, help="write the table there")
    options = parser.parse_args()
    report, counts, began = Report(PART.name, options.seed), Counts(), time.monotonic()
    run(options.seed, range(options.cases), report, counts, not options.only_written)
    document = _document(report, counts) | {"minutes": round((time.monotonic() - began) / 60, 1)}
    text = "\n".join(_table(document))
    print(text)
    for sort, count in counts.sorts.most_common(50):
        print(f"{count:6} × {sort}")
    if options.json:
        options.json.write_text(json.dumps(document, indent=1) + "\n")
    if options.markdown:
        options.markdown.write_text(f"{text}\n")
    return 1 if report.findings else 0


def _document(report: Report, counts: Counts) -> dict[str, Any]:
    kinds = {
        kind: {
            "cases": report.cases[kind],
            "seconds": round(counts.seconds[kind]),
            "as programs": counts.programs[kind],
            **{f"status {status}": counts.statuses[kind, status] for status in STATUSES},
            **{finding: counts.findings[kind, finding] for finding in FINDINGS},
        }
        for kind in KINDS
    }
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    about = {
        "seed": report.seed,
        "slowest_s": round(counts.slowest[0], 2),
        "slowest": counts.slowest[1],
        "peak_resident_mib": peak_mib,
    }
    return {**about, "findings": len(report.findings), "kinds": kinds}


def _table(document: dict[str, Any]) -> Iterator[str]:
    head = ["Inputs", *next(iter(document["kinds"].values()))]
    rows = [head, ["---", *["--:"] * (len(head) - 1)]]
    rows += [[kind, *map("{:,}".format, row.values())] for kind, row in document["kinds"].items()]
    yield from (f"| {' | '.join(row)} |" for row in rows)
    yield ""
    yield (
        f"Seed {document['seed']}, {document['minutes']} min; the slowest case, {document['slowest']}, took "
        f"{document['slowest_s']} s; at most {document['peak_resident_mib']} MiB were resident."
    )


if __name__ == "__main__":
    sys.exit(main())
