"""The one sentence of a run (docs/statistics.md, section 8): what won, by how much, how sure, and what limited each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log, log1p, nan
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal

from dbdyno.errors import UserError
from dbdyno.report.cells import Side, variants_of
from dbdyno.report.comparison import compare_sides, comparison_document
from dbdyno.report.core import words
from dbdyno.report.core.loads import LOAD_KEYS, at, load_of, rate_per_s, share_of
from dbdyno.report.core.ratios import TURNED, limit_of, turned
from dbdyno.results.noise import known_noise
from dbdyno.results.rivals import rivals
from dbdyno.stats.margin import MARGIN

if TYPE_CHECKING:
    from dbdyno.report.core.documents import CellDocument, ComparisonDocument, HeadlineDocument, RatioDocument
    from dbdyno.report.core.trial_documents import TrialDocument
    from dbdyno.results.json_types import SearchStated
    from dbdyno.results.model import Run

_INTERVAL: tuple[Literal["ratio", "low", "high"], ...] = ("ratio", "low", "high")


@dataclass(frozen=True, slots=True)
class Standing:
    """The systems at the load at which the highest throughput was measured.

    Attributes:
        top: the trial that stands for the leader, whose throughput is the highest there.
        chosen: by label, the trial that stands for each system there.
        ratios: by label, the other systems over the leader; empty without a comparison.
        elsewhere: by label, the median trial of each system that did more with another number of clients.
    """

    top: TrialDocument
    chosen: Mapping[str, TrialDocument]
    ratios: Mapping[str, RatioDocument]
    elsewhere: Mapping[str, TrialDocument]

    @property
    def judged(self) -> bool:
        """Return whether a comparison can say who won."""
        return len(self.chosen) > 1 and bool(self.ratios)


def compared(run: Run) -> ComparisonDocument | None:
    """Return the rivals of a run compared cell by cell, as by `dbdyno compare`, corrected over all cells.

    `None` if there is nothing to compare: one trial a side, or one system.
    """
    reached = [trial for trial in run.trials if trial.system is not None]
    labels = list(dict.fromkeys(trial.label for trial in reached))
    if len(labels) < 2 or max((trial.facts.repeat or 1 for trial in reached), default=1) < 2:
        return None
    pairs = [(Side(run, first, first), Side(run, second, second)) for first, second in rivals(variants_of(run))]
    try:
        return comparison_document(compare_sides(pairs, MARGIN, known_noise(run.path), force=False))
    except UserError:
        # No two systems were measured at the same load.
        return None


def headline(
    trials: Sequence[TrialDocument], comparison: ComparisonDocument | None, found_rates: Iterable[SearchStated]
) -> HeadlineDocument:
    """Return what a run shows, as plain JSON values.

    Args:
        trials: as `dbdyno.report.document.document` has them.
        comparison: what `compared` returned.
        found_rates: the rate searches of the run.

    Returns:
        `sentence`; `winner`, a label or `None`; `leader`, whose throughput is the highest at the load at which the
        highest was measured, by the geometric mean of its trials; `trials`:
        by label, the name of the trial that stands for the system at the leader's load; `ratios`: by label, the other
        systems over the leader there; `limits`: by label, what limited that trial.
    """
    peak = standing(trials, comparison)
    if peak is None:
        sentence = f"{_of_nothing(trials)}, so there is no figure to name."
        return {"winner": None, "leader": None, "trials": {}, "ratios": {}, "limits": {}, "sentence": sentence}
    searched = " ".join(search["sentence"] for search in found_rates)
    winner, sentence = _verdict(peak) if peak.judged else (None, _observed(peak.top, peak.chosen, trials))
    return {
        "sentence": searched or sentence,
        "winner": None if searched else winner,
        "leader": peak.top["label"],
        "trials": {label: trial["trial"] for label, trial in peak.chosen.items()},
        "ratios": peak.ratios,
        "limits": {label: limit_of(trial) for label, trial in peak.chosen.items()},
    }


def standing(trials: Sequence[TrialDocument], comparison: ComparisonDocument | None) -> Standing | None:
    """Return where the systems stand, or `None` if no trial has a figure."""
    top = _highest(trials)
    if top is None:
        return None
    chosen = {trial["label"]: trial for trial in _at_the_load_of(top, trials)}
    cells = _cells_at(top, comparison) if comparison else []
    top = chosen.get(_leader(cells) or "", top)
    return Standing(top, chosen, _ratios(top["label"], cells), _elsewhere(top, chosen, trials))


def _usable(trial: TrialDocument) -> bool:
    measured = trial["system"] is not None and trial["state"] == "complete" and bool(trial["throughput_per_s"])
    return measured and share_of(trial) is None


def _at_the_load_of(top: TrialDocument, trials: Sequence[TrialDocument]) -> Iterable[TrialDocument]:
    """Yield each system's trial of median throughput at the load of `top`."""
    same = [
        trial
        for trial in filter(_usable, trials)
        if load_of(trial) == load_of(top) and all(trial[key] == top[key] for key in LOAD_KEYS)
    ]
    for label in dict.fromkeys(trial["label"] for trial in same):
        yield _median([trial for trial in same if trial["label"] == label])


def _elsewhere(
    top: TrialDocument, chosen: Mapping[str, TrialDocument], trials: Sequence[TrialDocument]
) -> dict[str, TrialDocument]:
    """Return by label the median trial of each system that reached more with another number of clients."""
    keys = [key for key in LOAD_KEYS if key != "clients"]
    closed = [trial for trial in filter(_usable, trials) if not trial["rate"]]
    best = {}
    for label in chosen.keys() - {top["label"]}:
        repeated: dict[int | None, list[TrialDocument]] = {}
        for trial in closed:
            if trial["label"] == label and all(trial[key] == top[key] for key in keys):
                repeated.setdefault(trial["clients"], []).append(trial)
        most = max(map(_median, repeated.values()), key=rate_per_s, default=chosen[label])
        if rate_per_s(most) > (1 + MARGIN) * rate_per_s(chosen[label]):
            best[label] = most
    return best


def _median(repeated: Iterable[TrialDocument]) -> TrialDocument:
    """Return the trial of median throughput; of two in the middle, the lower."""
    ordered = sorted(repeated, key=rate_per_s)
    return ordered[(len(ordered) - 1) // 2]


def _of_nothing(trials: Sequence[TrialDocument]) -> str:
    """Return why no trial has a figure: it failed, or ended before a transaction did."""
    if any(trial["state"] == "complete" for trial in trials):
        return "No transaction was completed within the seconds of a trial (more --seconds or fewer --rows help)"
    return "No trial was completed"


def _highest(trials: Iterable[TrialDocument]) -> TrialDocument | None:
    """Return the median trial of the system and load with the highest geometric mean.

    The best trial of all would favour the less even of two similar systems.
    """
    repeated: dict[tuple[Any, ...], list[TrialDocument]] = {}
    for trial in filter(_usable, trials):
        load = tuple(trial[key] for key in LOAD_KEYS)
        repeated.setdefault((trial["label"], load_of(trial), *load), []).append(trial)
    means = {key: fmean(log(rate_per_s(trial)) for trial in same) for key, same in repeated.items()}
    most = max(means, key=means.__getitem__, default=None)
    return _median(repeated[most]) if most else None


def _cells_at(top: TrialDocument, comparison: ComparisonDocument) -> list[CellDocument]:
    """Return the comparisons at the load of `top`."""
    return [
        cell
        for cell in comparison["cells"]
        if all(cell[key] == top[key] for key in LOAD_KEYS) and (cell["rate"] or "") == load_of(top).words
    ]


def _leader(cells: Iterable[CellDocument]) -> str | None:
    """Return the system that no comparison calls slower; of several, the one with the highest geometric mean."""
    reached: dict[str, float] = {}
    slower = set()
    for cell in cells:
        sides = cell["baseline"], cell["candidate"]
        reached |= {side["label"]: side["throughput_per_s"] for side in sides if side["throughput_per_s"]}
        if cell["verdict"] in TURNED:
            slower.add(sides[cell["verdict"] == "slower"]["label"])
    return max(reached, key=lambda label: (label not in slower, reached[label]), default=None)


def _ratios(leader: str, cells: Iterable[CellDocument]) -> dict[str, RatioDocument]:
    """Return the comparisons of other systems with the leader, turned so that the leader is the baseline."""
    by_label = {}
    for cell in cells:
        labels = cell["baseline"]["label"], cell["candidate"]["label"]
        if leader in labels:
            by_label[labels[labels[0] == leader]] = turned(cell, labels[1] == leader)
    return by_label


def _verdict(peak: Standing) -> tuple[str | None, str]:
    """Return the winner over every other system or `None`, and the sentence that says so with the load."""
    winner, words_of_it, following = verdict(peak)
    if following is None:
        pairs = max(ratio["pairs"] or 0 for ratio in peak.ratios.values())
        return winner, f"{words_of_it} ({_pairs_at(peak.top, pairs)}{_classes(peak.top, peak.chosen)})."
    where = _where(peak.top, peak.chosen, following, peak.ratios[following]["pairs"] or 0)
    return winner, " ".join([f"{words_of_it} ({where}).", *more_elsewhere(peak)])


def more_elsewhere(peak: Standing) -> Iterable[str]:
    """Yield which systems did more with another number of clients than the leader's; the three fastest of them."""
    fastest = sorted(peak.elsewhere.values(), key=rate_per_s, reverse=True)[:3]
    if fastest:
        figures = (f"{trial['label']}, {words.significant(rate_per_s(trial))}/s {at(trial)}" for trial in fastest)
        yield f"More with other numbers of clients: {'; '.join(figures)}."


def verdict(peak: Standing) -> tuple[str | None, str, str | None]:
    """Return the winner or `None`, who won by how much or why nobody did, and the next system if one is known."""
    leader = peak.top["label"]
    known = {
        label: ratio
        for label, ratio in peak.ratios.items()
        if ratio["verdict"] != "invalid" and ratio["low"] is not None
    }
    unknown = {
        label: ratio["reason"] or "there is no interval" for label, ratio in peak.ratios.items() if label not in known
    }
    unknown |= {label: "there is no pair" for label in peak.chosen if label != leader and label not in peak.ratios}
    if not known:
        return None, f"No winner: {leader} reached most, but {'; '.join(dict.fromkeys(unknown.values()))}", None
    following = max(known, key=lambda label: known[label]["ratio"] or 0.0)
    ratio = known.pop(following)
    doubts = [
        f"{label} {'is not confirmed slower' if _leaves_out_1(ratio) else 'may be equal'}, {_times(ratio)}"
        for label, ratio in known.items()
        if ratio["verdict"] != "slower"
    ]
    doubts += _not_compared(unknown)
    doubt = "; ".join(doubts)
    if ratio["verdict"] == "slower" and not doubts:
        return leader, f"{leader} was fastest: {_times(ratio)} the throughput of {following}, the runner-up", following
    if ratio["verdict"] == "slower":
        return None, f"No winner: {leader} was faster than {following}, {_times(ratio)}, but {doubt}", following
    doubt = f"; {doubt}" if doubt else ""
    return None, f"No winner: {_undecided(leader, following, ratio)}{doubt}", following


def _not_compared(unknown: Mapping[str, str]) -> Iterable[str]:
    """Yield for each reason the systems that it kept from a comparison: the first by its label, and how many others."""
    by_reason: dict[str, list[str]] = {}
    for label, why in unknown.items():
        by_reason.setdefault(why, []).append(label)
    for why, (first, *others) in by_reason.items():
        more = f" and {len(others)} other{'s' * (len(others) > 1)} were" if others else " was"
        yield f"{first}{more} not compared: {why}"


def _times(ratio: RatioDocument) -> str:
    """Return how many times the other system's throughput the leader reached, with the interval."""
    centre, low, high = (ratio[key] or nan for key in _INTERVAL)
    times, least, most = (words.factor(1 / value) for value in (centre, high, low))
    bound = "at least " if ratio["least"] else ""
    return f"{bound}{times}× [{least} to {most}]"


def _undecided(leader: str, following: str, ratio: RatioDocument) -> str:
    """Return why the leader did not win over the next system."""
    if ratio["verdict"] == "equivalent":
        margin = f"{100 * (ratio['margin'] or 0.0):.3g} %"
        return f"{leader} and {following} are equivalent within {margin}, {_times(ratio)}"
    noise = ratio["noise"] or 0.0
    within = abs(log(ratio["ratio"] or nan)) <= log1p(noise)
    chance = "chance among several comparisons" if _leaves_out_1(ratio) else "chance"
    cause = f"the noise of this host, ±{100 * noise:.3g} %" if within else chance
    return f"{leader}'s lead over {following}, {_times(ratio)}, may be {cause}"


def _leaves_out_1(ratio: RatioDocument) -> bool:
    """Return whether the interval alone would name a winner, which noise or other comparisons can take back."""
    return (ratio["high"] or 1.0) < 1 or (ratio["low"] or 1.0) > 1


def _pairs_at(top: TrialDocument, pairs: int) -> str:
    return f"{at(top)}, {pairs} pair{'' if pairs == 1 else 's'} of trials"


def _where(top: TrialDocument, chosen: Mapping[str, TrialDocument], following: str, pairs: int) -> str:
    """Return where the leader and the next system were compared, and how even both were."""
    both = [words.evenness(trial["stability"]) for trial in (top, chosen[following])]
    even = f"; {' against '.join(text or 'no stall' for text in both)}" if any(both) else ""
    return f"{_pairs_at(top, pairs)}{_classes(top, chosen)}{even}"


def _classes(top: TrialDocument, chosen: Mapping[str, TrialDocument]) -> str:
    """Return the badge for systems whose durability differs from the leader's; empty if none does.

    It counts all of them, because the leader is compared with each, not only with the next.
    """
    others: dict[str, list[str]] = {}
    for label, trial in chosen.items():
        if trial["durability"] != top["durability"]:
            others.setdefault(str(trial["durability"] or "unknown"), []).append(label)
    if not others:
        return ""
    # A single system needs no name, and many names would be longer than the sentence.
    naming = len(chosen) > 2 and sum(map(len, others.values())) <= 2
    named = [f"{name} ({', '.join(labels)})" if naming else name for name, labels in sorted(others.items())]
    return f"; durability {top['durability'] or 'unknown'} against {' and '.join(named)}, not like with like"


def _observed(top: TrialDocument, chosen: Mapping[str, TrialDocument], trials: Sequence[TrialDocument]) -> str:
    """Return the highest figure as an observation, without a winner."""
    several = len({trial["workload"] for trial in filter(_usable, trials)}) > 1
    of = f" of {top['workload']}" if several else ""
    least = "at least " if top["client_limited"] else ""
    kind = "achieved" if top["rate"] else "measured"
    once = max((trial["repeat"] or 1 for trial in trials), default=1) == 1
    caution = " No interval, no winner: one trial each." if once else " No winner: there is nothing to compare it with."
    figure = f"{least}{words.significant(top['throughput_per_s'])} transactions/s{of} {at(top)}"
    if remarks := f"{words.evenness(top['stability'])}{_classes(top, chosen)}".removeprefix("; "):
        figure += f" ({remarks})"
    return f"Highest {kind}: {words.label_of(top)}, {figure}.{caution}"
