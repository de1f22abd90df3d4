"""What a person sees while a run goes on: a live line on a terminal, plain lines elsewhere, or nothing."""

import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.live import Live
from rich.text import Text

from dbdyno.conduct.listener import Listener, Outcome, Step
from dbdyno.experiment.redact import redact
from dbdyno.experiment.trials import Preparation, Trial
from dbdyno.report.core.words import evenness
from dbdyno.results.model import WHOLE_SECOND
from dbdyno.stats.histogram import Histogram
from dbdyno.stats.stability import Stability, stability


def listener_for(console: Console, quiet: bool) -> AbstractContextManager[Listener]:
    """Return the listener that suits where the output goes."""
    if quiet:
        return nullcontext(Quiet())
    return LiveLine(console) if console.is_terminal else nullcontext(Plain(console))


class Quiet(Listener):
    """Says only what went wrong."""

    def trial_ended(self, outcome: Outcome) -> None:
        if outcome.state == "failed":
            print(f"dbdyno: {outcome.trial.name} failed: {redact(outcome.reason or '')}", file=sys.stderr)


class Plain(Listener):
    """A line at the beginning of a preparation and at the end of a trial."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._trials = 0
        self._ended = 0
        self.trial_s = 0

    def say(self, text: str, style: str = "") -> None:
        """Print a line that stays."""
        self._console.print(Text(redact(text), style=style), soft_wrap=True)

    def run_begins(self, folder: Path, trials: int, trial_s: int) -> None:
        self._trials, self.trial_s = trials, trial_s
        self.say(f"{trials} trial{'s' if trials > 1 else ''}, recorded in {folder}")

    def trials_are_added(self, trials: int, cells: int) -> None:
        self._trials += trials
        where = "one cell is" if cells == 1 else f"{cells} cells are"
        self.say(f"{where} not known as exactly as wanted: {trials} more trials", "dim")

    def steps_are_left_out(self, trials: int, sentence: str) -> None:
        self._trials -= trials
        self.say(f"    {sentence}")

    def system_is_skipped(self, label: str, reason: str) -> None:
        self.say(f"{label} is left out: {reason}", "yellow")

    def not_seen(self, band: str, reason: str) -> None:
        self.say(f"not seen: {band}: {reason}", "dim")

    def said(self, what: str) -> None:
        self.say(what, "yellow")

    def preparation_begins(self, preparation: Preparation) -> None:
        if preparation.repeat == 1:
            self.say(f"{preparation.system.label}: starting and loading", "dim")

    def search_begins(self, first: Trial, limit: str) -> None:
        self.say(f"{self.place(first, self._ended + 1)}  searching for the highest rate with {limit}")

    def step_ended(self, step: Step) -> None:
        time = "nothing completed" if step.value_us is None else f"{step.statistic} {_length(step.value_us)}"
        said = "holds" if step.holds else f"does not hold: {step.why_not}"
        self.say(f"    {step.rate_per_s:>10,}/s: {time} {said}{' (confirming)' if step.confirms else ''}")

    def search_ended(self, sentence: str) -> None:
        self._ended += 1
        self.say(f"    {sentence}", "bold")

    def limit_confirmed(self, sentence: str) -> None:
        self.say(f"    {sentence}")

    def trial_ended(self, outcome: Outcome) -> None:
        searching = outcome.trial.step is not None
        if outcome.state == "complete" and searching:
            self._begun_with(outcome)
            return
        self._ended += not searching
        if outcome.state == "complete":
            rate = outcome.transactions / outcome.seconds if outcome.seconds else 0.0
            even = _even(outcome.stability)
            self.say(f"{self.place(outcome.trial, self._ended)}  {rate:>10,.0f}/s{even}{_errors(outcome.errors)}")
        else:
            self.say(f"{self.place(outcome.trial, self._ended)}  {outcome.state}: {outcome.reason}", "bold red")

    def _begun_with(self, outcome: Outcome) -> None:
        """Say what a search begins with; what its steps found is said by themselves."""
        if outcome.trial.step == 0 and outcome.seconds:
            rate = outcome.transactions / outcome.seconds
            self.say(f"    {rate:>10,.0f}/s{_even(outcome.stability)} in a closed loop")

    def place(self, trial: Trial, number: int) -> str:
        """Return which trial it is, of how many."""
        width = len(str(self._trials))
        # A share of capacity has its clients when that is known.
        clients = f"{trial.clients or 'no'} client{'' if trial.clients == 1 else 's'}"
        pipeline = f"  pipeline {trial.pipeline}" if trial.pipeline > 1 else ""
        delay = f"  {trial.network_delay_us:,} µs away" if trial.network_delay_us else ""
        rate = f"  {trial.rate.words}" if trial.rate else ""
        what = f"{trial.system.label}  {trial.workload}  {clients}{pipeline}{delay}{rate}"
        return f"[{number:>{width}}/{self._trials}] {what}"


class LiveLine(Plain):
    """The plain lines, and under them one that follows the trial second by second.

    It is drawn when a record comes and at no other time, so that showing a trial costs next to nothing.
    """

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._where = ""
        self._errors: dict[str, int] = {}
        self._rates_per_s: list[float] = []

    def __enter__(self) -> "LiveLine":
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def _draw(self, text: str) -> None:
        self._live.update(Text(text), refresh=True)

    def preparation_begins(self, preparation: Preparation) -> None:
        self._where = preparation.system.label
        self._draw(f"{self._where}: starting")

    def trial_begins(self, trial: Trial) -> None:
        self._where = self.place(trial, self._ended + 1)
        self._errors, self._rates_per_s = {}, []
        self._draw(self._where)

    def trial_ended(self, outcome: Outcome) -> None:
        self._draw("")
        super().trial_ended(outcome)

    def record_came(self, record: dict[str, Any]) -> None:
        match record["record"]:
            case "progress":
                self._draw(f"{self._where}: {_progress(record)}")
            case "interval":
                self._draw(f"{self._where}  {self._second(record)}")

    def _second(self, interval: dict[str, Any]) -> str:
        for kind, count in interval["errors"].items():
            self._errors[kind] = self._errors.get(kind, 0) + count
        transactions = interval["transactions"]
        rate = transactions["completed"] / interval["seconds"] if interval["seconds"] else 0.0
        if not interval["warmup"] and interval["seconds"] > WHOLE_SECOND:
            self._rates_per_s.append(rate)
        even = _even(stability(np.array(self._rates_per_s))) if self._rates_per_s else ""
        times = transactions.get("response_time") or transactions["service_time"]
        p99_ns = Histogram.from_record(times).percentile_ns(99)
        p99 = "–" if p99_ns is None else f"{p99_ns / 1e6:.2f} ms"
        offered = f" of {due:,} offered" if (due := transactions.get("scheduled")) is not None else ""
        doing = "warm-up, " if interval["warmup"] else ""
        second = f"{doing}{interval['second'] + 1} of {self.trial_s} s"
        return f"{second}  {rate:,.0f}/s{offered}{even}  p99 {p99}{_errors(self._errors)}"


def _progress(record: dict[str, Any]) -> str:
    """Return how far a load client is, and where the record tells it how fast and how much longer."""
    share = f"{record['phase']} {record['done']:,} of {record['total']:,} {record['unit']}"
    if not record.get("rows_per_s") or record.get("left_s") is None:
        return share
    return f"{share}  {record['rows_per_s']:,.0f}/s  {_rest(record['left_s'])} left"


def _rest(seconds: float) -> str:
    """Return a time to wait for, as finely as a person waits."""
    minutes, rest_s = divmod(round(seconds), 60)
    return f"{minutes} min {rest_s} s" if minutes else f"{rest_s} s"


def _length(time_us: float) -> str:
    """Return a time in ms, or in s where that is shorter, with two or three digits that tell."""
    return f"{time_us / 1e6:.2f} s" if time_us >= 1e6 else f"{time_us / 1e3:.{1 if time_us >= 1e3 else 2}f} ms"


def _even(found: Stability | None) -> str:
    """Return how even the seconds were so far, or nothing where there are none."""
    return f"  {evenness(asdict(found))}" if found else ""


def _errors(errors: dict[str, int]) -> str:
    """Return how many operations failed, by kind."""
    if not errors:
        return "  no errors"
    return f"  {sum(errors.values()):,} errors ({', '.join(f'{count:,} {kind}' for kind, count in errors.items())})"
