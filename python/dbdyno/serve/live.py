"""The live document: the newest run of a folder, its trial second by second, as JSON.

The folder is all that is read, so the page shows a run of any dbdyno, and none that is measured waits for the page.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from dbdyno.errors import UserError
from dbdyno.report.core import words
from dbdyno.results.facts import PreparationFacts, RunFacts, TrialFacts
from dbdyno.results.foreign_content import understood
from dbdyno.results.jsonfiles import read_object
from dbdyno.results.model import Interval
from dbdyno.serve.figures import figures
from dbdyno.serve.runs import Runs, changed_ns
from dbdyno.serve.tail import Tail
from dbdyno.serve.trial import FollowedTrial
from dbdyno.tables.redaction import redacted_document

EVERY_S = 1.0
MOST_SHARE = 0.05
"""Highest share of one processor for following a run: the page must not slow down the run that it shows."""


class Live:
    """Follows the newest run. May be asked from any thread; however many ask, it looks once a second at most."""

    def __init__(self, runs: Runs, clock: Callable[[], float] = time.monotonic) -> None:
        """Take the runs of a folder."""
        self._runs, self._clock = runs, clock
        self._lock = threading.Lock()
        self._trial: FollowedTrial | None = None
        self._preparation: _Loading | None = None
        self._next_s = 0.0
        self._last: dict[str, object] = {}

    def document(self) -> dict[str, object]:
        """Return what goes on; `state` is `none` without a run, `unreadable` if it cannot be read."""
        with self._lock:
            if (began_s := self._clock()) >= self._next_s:
                self._last = redacted_document(self._look())
                took_s = self._clock() - began_s
                self._next_s = began_s + max(EVERY_S, took_s / MOST_SHARE)
            return self._last

    def _look(self) -> dict[str, object]:
        run = self._runs.newest()
        if run is None:
            return {"state": "none"}
        try:
            with understood(run):
                return self._of_run(run)
        except UserError as error:
            # Read anew the next time: what could not be read may have been half written.
            self._trial = self._preparation = None
            return {"run": run.name, "state": "unreadable", "reason": str(error).replace(f"{run}/", "")}

    def _of_run(self, run: Path) -> dict[str, object]:
        facts = RunFacts.read(read_object(run / "run.json"))
        trials = list(run.glob("trials/*/trial.json"))
        trial = max(trials, key=changed_ns, default=None)
        return {
            "run": run.name,
            "experiment": str(facts.experiment or run.name),
            "question": str(facts.question or ""),
            "state": str(facts.state),
            "trials": len(facts.trials or ()),
            "begun": len(trials),
            "preparing": self._preparing(run, trial) if facts.state == "running" else None,
            "trial": self._of_trial(trial.parent) if trial else None,
        }

    def _preparing(self, run: Path, trial: Path | None) -> dict[str, object] | None:
        """Return which system is started or loaded, and how far that is; None if none is."""
        folder = max(run.glob("preparations/*"), key=changed_ns, default=None)
        if folder is None or (trial and changed_ns(trial) > changed_ns(folder)):
            return None
        file = folder / "preparation.json"
        facts = PreparationFacts.read(read_object(file) if file.is_file() else {})
        if facts.state:
            return None
        if self._preparation is None or self._preparation.folder != folder:
            self._preparation = _Loading(folder)
        return {"system": str(facts.label or folder.name), "doing": self._preparation.words()}

    def _of_trial(self, folder: Path) -> dict[str, object]:
        if self._trial is None or self._trial.folder != folder:
            self._trial = FollowedTrial(folder)
        trial = self._trial
        trial.look()
        facts, seconds = trial.facts, trial.intervals
        budget = trial.budget()
        planned_s = float((facts.seconds or 0) + (facts.warmup_seconds or 0))
        return {
            "trial": folder.name,
            "title": _title(facts),
            "state": facts.state,
            "reason": facts.reason,
            "open": facts.rate is not None,
            "planned_s": planned_s,
            "silent_s": silent_s(folder / "records.jsonl") if facts.state == "running" else None,
            "last": _second(seconds[-1]) if seconds else None,
            "errors": sum(sum(interval.errors.values()) for interval in seconds),
            "first_errors": trial.errors,
            "figures": figures(seconds, planned_s, budget),
            "observed": trial.observed(),
        }


class _Loading:
    """A system that is started and loaded."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._tail = Tail(folder / "records.jsonl")
        self._words = "starting"

    def words(self) -> str:
        """Return how far it is."""
        for record in self._tail.read():
            if record.get("record") == "progress":
                self._words = f"{record['phase']} {record['done']:,} of {record['total']:,} {record['unit']}"
        return self._words


def _title(facts: TrialFacts) -> str:
    clients = f"{facts.clients or 'no'} client{'' if facts.clients == 1 else 's'}"
    rate = (facts.rate or {}).get("words")
    return ", ".join(str(part) for part in (facts.label, facts.workload, clients, rate) if part)


def _second(interval: Interval) -> dict[str, object]:
    """Return the last second in words, as the page shows it."""
    rate = interval.completed / interval.seconds if interval.seconds else 0.0
    return {
        "throughput": f"{rate:,.0f}",
        "p50": words.length(None if interval.p50_ns is None else interval.p50_ns / 1000),
        "p99": words.length(None if interval.p99_ns is None else interval.p99_ns / 1000),
        "errors": sum(interval.errors.values()),
        "connected": interval.connected,
        "warmup": interval.warmup,
        "second": interval.second + 1,
    }


def silent_s(file: Path) -> float | None:
    """Return for how long nothing was written to a file; None if it is not there."""
    changed = changed_ns(file)
    return max(0.0, time.time() - changed / 1e9) if changed else None
