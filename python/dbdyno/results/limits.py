"""The result of an experiment's `[limits]`, as `run.json` states it, and in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dbdyno.contract import JsonObject
    from dbdyno.results.model import Run, Trial

_TIMES = ((1e6, "s"), (1e3, "ms"), (1, "µs"))


@dataclass(frozen=True, slots=True)
class JudgedLimit:
    """One limit in one trial.

    Attributes:
        limit: as the experiment has it, `p99 < 10ms`.
        figure: what was compared with it: `p99`, or `max` if too few transactions tell that.
        value: in `unit` (`us`, `/s`, `share`, or none for a count); `None` if it is not known.
    """

    trial: str
    limit: str
    figure: str
    value: float | None
    unit: str
    holds: bool

    @property
    def words(self) -> str:
        """The value for a person: `12.3 ms`, `980/s`, `3 errors`, `2 % errors`; with the figure if it is another."""
        other = f"{self.figure} " if self.unit == "us" and not self.limit.startswith(f"{self.figure} ") else ""
        return other + _words(self.value, self.unit)


def judged_limits(run: Run) -> tuple[JudgedLimit, ...]:
    """Return every limit in every trial that it was judged in; none if the experiment has no limits."""
    return tuple(map(_read, run.facts.limits or ()))


def limit_sentences(run: Run) -> tuple[str, ...]:
    """Return a sentence for each broken limit, or one that all hold; none if the experiment has no limits."""
    judged = judged_limits(run)
    broken: dict[str, list[JudgedLimit]] = {}
    for judged_limit in judged:
        if not judged_limit.holds:
            broken.setdefault(judged_limit.limit, []).append(judged_limit)
    if broken:
        return tuple(_broken(run, limit, ones, judged) for limit, ones in broken.items())
    limits = dict.fromkeys(judged_limit.limit for judged_limit in judged)
    trials = len({judged_limit.trial for judged_limit in judged})
    return (f"Limits hold in {trials} of {trials} trials: {', '.join(limits)}.",) if judged else ()


def limits_broken(run: Run) -> bool:
    """Return whether a limit of the experiment was broken."""
    return not all(judged_limit.holds for judged_limit in judged_limits(run))


def _read(stated: JsonObject) -> JudgedLimit:
    value = stated.get("value")
    return JudgedLimit(
        trial=str(stated["trial"]),
        limit=str(stated["limit"]),
        figure=str(stated["figure"]),
        value=None if value is None else float(value),
        unit=str(stated["unit"]),
        holds=stated["holds"] is True,
    )


def _broken(run: Run, limit: str, broken: Sequence[JudgedLimit], judged: Sequence[JudgedLimit]) -> str:
    trials = sum(judged_limit.limit == limit for judged_limit in judged)
    sign = -1 if "throughput" in limit else 1
    worst = max(
        broken, key=lambda judged_limit: float("inf") if judged_limit.value is None else sign * judged_limit.value
    )
    by_name = {trial.name: trial for trial in run.trials}
    where = _where(by_name[worst.trial]) if worst.trial in by_name else worst.trial
    said = f"Limit broken: {limit} in {len(broken)} of {trials} trial{'s' if trials > 1 else ''}"
    return f"{said}; {'the worst' if len(broken) > 1 else 'it'} is {where}: {worst.words}."


def _where(trial: Trial) -> str:
    facts = trial.facts
    rate = f", {facts.rate['words']}" if facts.rate and facts.rate.get("words") else ""
    return f"{trial.label}, {facts.workload}, {facts.clients} client{'' if facts.clients == 1 else 's'}{rate}"


def _words(value: float | None, unit: str) -> str:
    if value is None:
        return "nothing was measured"
    if unit == "us":
        return (
            f"{value / 1e6:.3g} s" if value >= 1e6 else f"{value / 1e3:.3g} ms" if value >= 1e3 else f"{value:.3g} µs"
        )
    if unit == "/s":
        return f"{value:,.0f}/s"
    if unit == "share":
        return f"{100 * value:.3g} % of operations failed"
    return f"{value:,.0f} operation{'' if value == 1 else 's'} failed"
