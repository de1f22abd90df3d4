"""How a store came back after a restart, in sentences: its first second, its warm rate, and the time between both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median
from typing import TYPE_CHECKING

from dbdyno.report.core import words

if TYPE_CHECKING:
    from dbdyno.report.core.trial_documents import TrialDocument, WarmUpDocument

MOST_SYSTEMS = 4
"""With more systems only the table says it."""


def by_restart(trials: Iterable[TrialDocument]) -> list[str]:
    """Return a sentence for each system whose trials followed a restart: medians over its trials, and the range.

    Empty if no trial followed one, or too many systems did.
    """
    grouped: dict[str, list[tuple[WarmUpDocument, float | None]]] = {}
    for trial in trials:
        if warm_up := trial.get("warm_up"):
            grouped.setdefault(trial["label"], []).append((warm_up, trial["seconds"]))
    if len(grouped) > MOST_SYSTEMS:
        return []
    return [f"{label}: {_sentence(warm_ups)}." for label, warm_ups in grouped.items()]


def _sentence(warm_ups: Sequence[tuple[WarmUpDocument, float | None]]) -> str:
    first, warm = (median(warm_up[key] for warm_up, _ in warm_ups) for key in ("first_per_s", "warm_per_s"))
    # A store that was not warm within the trial took longer than the trial.
    took = sorted(
        (seconds or 0.0, True) if warm_up["seconds"] is None else (float(warm_up["seconds"]), False)
        for warm_up, seconds in warm_ups
    )
    low, middle, high = (_length(*took[index]) for index in (0, (len(took) - 1) // 2, -1))
    spread = f" ({low} to {high})" if low != high else ""
    return (
        f"{words.significant(first)}/s in the first second after the restart, {words.significant(warm)}/s warm, "
        f"95 % of it after {middle}{spread}"
    )


def _length(seconds: float, is_longer: bool) -> str:
    return f"{'more than ' if is_longer else ''}{words.whole(seconds)} s"
