"""The output while a run goes on: a display on a terminal, plain lines elsewhere, or nothing."""

import sys
import textwrap
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from rich.console import Console
from rich.live import Live
from rich.text import Text

from dbdyno.conduct.listener import Listener, Outcome
from dbdyno.contract import ErrorKind, IntervalRecord, ProgressRecord, Record
from dbdyno.experiment.redact import redact
from dbdyno.experiment.trials import Preparation, Trial
from dbdyno.report.core import words
from dbdyno.results.json_types import StepStated
from dbdyno.stats.histogram import Histogram
from dbdyno.stats.stability import Stability
from dbdyno.stats.stalls import Stalls

BAR = 20
"""Characters of the bar that shows how far a run is."""
SPARK = 40
"""Seconds whose throughput is drawn at most."""
BLOCKS = "▁▂▃▄▅▆▇█"


def listener_for(console: Console, quiet: bool) -> AbstractContextManager[Listener]:
    """Return the listener that suits where the output goes."""
    if quiet:
        return nullcontext(Quiet())
    follows = console.is_terminal and not console.is_dumb_terminal
    return Display(console) if follows else nullcontext(Plain(console))


class Quiet(Listener):
    """Says only what went wrong, or may."""

    def owner_is_warned(self, label: str, sentence: str) -> None:
        print(f"dbdyno: {redact(f'{label}: {sentence}')}", file=sys.stderr)

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

    def trials_are_added(self, trials: int, why: str) -> None:
        self._trials += trials
        self.say(f"{why}: {trials} more trials", "dim")

    def steps_are_left_out(self, trials: int, sentence: str) -> None:
        self._trials -= trials
        self.say(f"    {sentence}")

    def system_is_skipped(self, label: str, reason: str) -> None:
        self.say(f"{label} is left out: {reason}", "yellow")

    def owner_is_warned(self, label: str, sentence: str) -> None:
        self.say(f"{label}: {sentence}", "yellow")

    def not_seen(self, band: str, reason: str) -> None:
        self.say(f"not observed: {band}: {reason}", "dim")

    def said(self, what: str) -> None:
        self.say(what, "yellow")

    def preparation_begins(self, preparation: Preparation) -> None:
        system = preparation.system
        if preparation.repeat == 1:
            self.say(f"{system.label}: {'loading' if system.attached else 'starting and loading'}", "dim")

    def search_begins(self, first: Trial, limit: str) -> None:
        self.say(f"{self.position(first, self._ended + 1)}  searching for the highest rate with {limit}")

    def step_ended(self, step: StepStated) -> None:
        self.say(f"    {step_in_words(step)}")

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
            even = _even(outcome.stability, outcome.stalls)
            self.say(f"{self.position(outcome.trial, self._ended)}  {rate:>10,.0f}/s{even}{_errors(outcome.errors)}")
        else:
            self.say(f"{self.position(outcome.trial, self._ended)}  {outcome.state}: {outcome.reason}", "bold red")

    def _begun_with(self, outcome: Outcome) -> None:
        """Say what a search begins with; what its steps found is said by themselves."""
        if outcome.trial.step == 0 and outcome.seconds:
            rate = outcome.transactions / outcome.seconds
            self.say(f"    {rate:>10,.0f}/s{_even(outcome.stability, outcome.stalls)} in a closed loop")

    def position(self, trial: Trial, number: int) -> str:
        """Return which trial it is, of how many."""
        width = len(str(self._trials))
        return f"[{number:>{width}}/{self._trials}] {what_of(trial)}"


def what_of(trial: Trial) -> str:
    """Return what a trial is of: system, workload and load."""
    # A share of capacity has its clients when that is known.
    clients = f"{trial.clients or 'no'} client{'' if trial.clients == 1 else 's'}"
    pipeline = f"  pipeline {trial.pipeline}" if trial.pipeline > 1 else ""
    delay = f"  {trial.network_delay_us:,} µs away" if trial.network_delay_us else ""
    rate = f"  {trial.rate.words}" if trial.rate else ""
    return f"{trial.system.label}  {trial.workload}  {clients}{pipeline}{delay}{rate}"


def step_in_words(step: StepStated) -> str:
    """Return what a step of a rate search found."""
    reached = "nothing completed" if step["value_us"] is None else f"{step['statistic']} {_length(step['value_us'])}"
    said = "holds" if step["holds"] else f"does not hold: {step['why_not']}"
    return f"{step['rate_per_s']:>10,}/s: {reached} {said}{' (confirming)' if step['confirms'] else ''}"


class Display(Plain):
    """One display that follows the run second by second; only what went wrong stays above it.

    It is drawn when a record comes and at no other time, so that showing a trial costs next to nothing.
    """

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(console)
        # Redirected output would go through what makes text printable, and so would the display's own control codes.
        self._live = Live(
            console=console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False
        )
        self._clock = clock
        self._began_s = 0.0
        self._share = 0.0
        self._doing = ""
        self._searching = False
        self._errors = 0
        self._rates_per_s: list[float] = []

    def __enter__(self) -> "Display":
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def run_begins(self, folder: Path, trials: int, trial_s: int) -> None:
        self._trials, self.trial_s, self._began_s = trials, trial_s, self._clock()
        self._draw()

    def trials_are_added(self, trials: int, why: str) -> None:
        self._trials += trials

    def steps_are_left_out(self, trials: int, sentence: str) -> None:
        self._trials -= trials

    def not_seen(self, band: str, reason: str) -> None:
        """Say nothing: the details name it."""

    def limit_confirmed(self, sentence: str) -> None:
        """Say nothing: `dbdyno explain` has it."""

    def preparation_begins(self, preparation: Preparation) -> None:
        self._doing = preparation.system.label
        self._draw(["starting"])

    def trial_begins(self, trial: Trial) -> None:
        self._doing = what_of(trial)
        self._errors, self._rates_per_s, self._share = 0, [], 0.0
        self._draw()

    def search_begins(self, first: Trial, limit: str) -> None:
        self._searching = True
        self._doing = f"{what_of(first)}  searching for {limit}"
        self._draw()

    def step_ended(self, step: StepStated) -> None:
        self._draw([step_in_words(step)])

    def search_ended(self, sentence: str) -> None:
        self._ended += 1
        self._share = 0.0

    def trial_ended(self, outcome: Outcome) -> None:
        if outcome.state != "complete":
            super().trial_ended(outcome)
        elif outcome.trial.step is None:
            self._ended += 1
        self._share = 0.0
        if not self._searching:
            self._doing = ""
        self._draw()

    def record_came(self, record: Record) -> None:
        match record["record"]:
            case "progress":
                self._draw([_progress(record)])
            case "interval":
                self._draw(*self._second(record))

    def _draw(self, *lines: Sequence[str]) -> None:
        """Show how far the run is, what it does, and these lines, each in its parts."""
        overall, doing, *others = (_fitted(parts, self._room) for parts in (self._overall(), [self._doing], *lines))
        text = Text(overall, no_wrap=True, overflow="crop").append(f"\n{doing}", "bold")
        self._live.update(text.append("".join(f"\n{line}" for line in others)), refresh=True)

    @property
    def _room(self) -> int:
        return self._console.width - 1

    def _overall(self) -> list[str]:
        done = self._ended + self._share
        share = min(1.0, done / self._trials) if self._trials else 0.0
        bar = "█" * round(share * BAR) + "░" * (BAR - round(share * BAR))
        number = min(self._ended + 1, self._trials)
        left = f"{words.duration(left_s)} left" if (left_s := self._left_s(done)) is not None else ""
        return [f"trial {number} of {self._trials}", bar, f"{share:.0%}", left]

    def _left_s(self, done: float) -> float | None:
        """How long it still takes by what the trials took so far; before one has ended, by their seconds."""
        if not self._trials or (not self._ended and self._searching):
            return None
        trial_s = (self._clock() - self._began_s) / done if self._ended else self.trial_s
        return max(0.0, trial_s * (self._trials - done))

    def _second(self, interval: IntervalRecord) -> tuple[list[str], list[str]]:
        """Return what is done, and the last second in figures, with the throughput of those before as a line."""
        transactions = interval["transactions"]
        rate = transactions["completed"] / interval["seconds"] if interval["seconds"] else 0.0
        self._rates_per_s.append(rate)
        second = interval["second"] + 1
        self._share = 0.0 if self._searching or not self.trial_s else min(1.0, second / self.trial_s)
        times = transactions.get("response_time") or transactions["service_time"]
        p99_ns = Histogram.from_record(times).percentile_ns(99)
        offered = f" of {due:,} offered" if (due := transactions.get("scheduled")) is not None else ""
        parts = [
            f"{rate:,.0f}/s{offered}",
            f"p99 {words.length(None if p99_ns is None else p99_ns / 1000)}",
            self._errors_of(interval["errors"]),
        ]
        room = self._room - sum(len(part) + 2 for part in parts)
        doing = "warm-up" if interval["warmup"] else "measuring"
        return [f"{doing}, {second} of {self.trial_s} s"], [*parts, _sparkline(self._rates_per_s, room)]

    def _errors_of(self, errors: Mapping[ErrorKind, int]) -> str:
        """Return the errors of the last second, and how many there were in the trial."""
        now = sum(errors.values())
        self._errors += now
        so_far = f", {self._errors:,} so far" if self._errors > now else ""
        return (f"{now:,} errors ({', '.join(errors)})" if now else "no errors") + so_far


def _fitted(parts: Sequence[str], width: int) -> str:
    """Return the parts side by side as far as they have room; one alone loses its last words."""
    line = ""
    for part in filter(None, parts):
        longer = f"{line}  {part}" if line else part
        if len(longer) > width:
            return line or textwrap.shorten(part, width, placeholder=" …")
        line = longer
    return line


def _sparkline(values: Sequence[float], room: int) -> str:
    """Return the last values as a line of blocks, from zero up."""
    last = values[-max(0, min(room, SPARK)) :] if room > 0 else []
    highest = max(last, default=0.0) or 1.0
    return "".join(BLOCKS[round((len(BLOCKS) - 1) * value / highest)] for value in last)


def _progress(record: ProgressRecord) -> str:
    """Return how far a load client is, and its speed and remaining time if the record has them."""
    share = f"{record['phase']} {record['done']:,} of {record['total']:,} {record['unit']}"
    rows_per_s, left_s = record.get("rows_per_s"), record.get("left_s")
    if not rows_per_s or left_s is None:
        return share
    return f"{share}  {rows_per_s:,.0f}/s  {words.duration(left_s)} left"


def _length(time_us: float) -> str:
    """Return a time in ms, or in s if that is shorter, with two or three digits that tell."""
    return f"{time_us / 1e6:.2f} s" if time_us >= 1e6 else f"{time_us / 1e3:.{1 if time_us >= 1e3 else 2}f} ms"


def _even(stability: Stability | None, stalls: Stalls | None = None) -> str:
    """Return how even the seconds were so far, or nothing if there are none, or too few to tell and none stalled."""
    if stability is None:
        return ""
    even = words.evenness(
        {
            "floor": stability.floor,
            "longest_without_completion_s": stability.longest_without_completion_s,
            "variation_1s": stability.variation_1s,
            "stalls": stalls.figures() if stalls else None,
            "seconds": stability.seconds,
            "seconds_below_tenth": stability.seconds_below_tenth,
        }
    )
    return f"  {even}" if even else ""


def _errors(errors: dict[str, int]) -> str:
    """Return how many operations failed, by kind."""
    if not errors:
        return "  no errors"
    return f"  {sum(errors.values()):,} errors ({', '.join(f'{count:,} {kind}' for kind, count in errors.items())})"
