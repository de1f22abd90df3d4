"""How figures are written, and the sentences that table and report share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from dbdyno.report.core.loads import at, rate_per_s, share_of, time_name, times_us
from dbdyno.report.core.named_workload import named_workload
from dbdyno.report.core.names import listed
from dbdyno.stats.steady_state import NO_STEADY_STATE, TOO_SHORT
from dbdyno.verdict.limits import UNEXPLAINED as UNEXPLAINED_LIMIT
from dbdyno.verdict.limits import noun_of

if TYPE_CHECKING:
    from dbdyno.report.core.documents import RatioDocument, RunDocument
    from dbdyno.report.core.trial_documents import CountedDocument, LabelledDocument, TrialDocument
    from dbdyno.results.json_types import LeftOutStated
    from dbdyno.results.usable import Evenness
    from dbdyno.stats.stalls import StallFigures

UNKNOWN = "–"
LOW_FLOOR = 0.5
"""A floor below this is named beside every figure, even if room is scarce."""
NOT_SEEN, UNEXPLAINED = "not observed", noun_of(UNEXPLAINED_LIMIT)


def significant(value: float | None) -> str:
    """Write a number with three significant digits, thousands apart; `None` as a dash."""
    if value is None:
        return UNKNOWN
    size = float(f"{abs(value):.3g}")
    if size >= 100 or value == 0:
        return f"{value:,.0f}"
    if size >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}" if size >= 1 else f"{value:.2g}"


def whole(value: float | None) -> str:
    """Write a count with its thousands apart; `None` as a dash."""
    return UNKNOWN if value is None else f"{value:,.0f}"


def short_count(value: float) -> str:
    """Write a count in at most five characters: 940, 21k, 1.2M."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if value >= size:
            scaled = value / {"G": 1e9, "M": 1e6, "k": 1e3}[unit]
            return f"{scaled:.1f}{unit}" if scaled < 10 else f"{scaled:.0f}{unit}"
    return f"{value:.0f}"


def short_bytes(value: float | None) -> str:
    """Write a number of bytes with its unit; `None` as a dash."""
    if value is None:
        return UNKNOWN
    for size, unit in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if value >= size:
            return f"{significant(value / size)} {unit}"
    return f"{significant(value)} B"


def not_observed(lines: Iterable[str]) -> list[str]:
    """Return lines of a fairness card that say what was not observed and why, with what has one reason in one line."""
    by_reason: dict[str, list[str]] = {}
    for line in lines:
        band, _, reason = line.partition(": ")
        by_reason.setdefault(reason, []).append(band)
    return [": ".join(filter(None, (", ".join(bands), reason))) for reason, bands in by_reason.items()]


def percent(share: float | None, digits: int = 0) -> str:
    """Write a share as a percentage; `None` as a dash."""
    return UNKNOWN if share is None else f"{100 * share:.{digits}f}%"


def evenness(stability: Evenness) -> str:
    """Write floor and stalls, which stand beside every mean (docs/statistics.md, section 4); empty without either."""
    return ", ".join(filter(None, (_floor(stability), stalled(stability))))


def unevenness(stability: Evenness) -> str:
    """Write floor and stalls if either is unusual: stalls to mention, or a floor under `LOW_FLOOR`."""
    floor = stability["floor"]
    low = floor is not None and floor < LOW_FLOOR
    return evenness(stability) if low or stalled(stability) else ""


def _floor(stability: Evenness) -> str:
    floor = stability["floor"]
    if floor is None:
        return ""
    below, seconds = stability.get("seconds_below_tenth"), stability.get("seconds")
    # Only with a median of 0 can most seconds be below a tenth of it.
    still = f" (stalled in {below} of {seconds} s)" if below and seconds and 2 * below > seconds else ""
    return f"floor {percent(floor)}{still}"


def stalled(stability: Evenness) -> str:
    """Write the stalls that a reader must know of (docs/statistics.md, section 4.1); empty without one."""
    stalls, still_s = stability.get("stalls"), stability["longest_without_completion_s"]
    if not (stalls and stalls["notable"]):
        return f"longest stall {whole(still_s)} s" if still_s else ""
    return f"longest stall {longest_stall(stability)}{_how_often(stalls)}"


def _how_often(stalls: StallFigures) -> str:
    """Write the number of stalls and their share of the time; empty for a single one."""
    if stalls["count"] == 1:
        return ""
    many = f"{whole(stalls['count'])} stalls" if stalls["per_s"] < 1 else f"{significant(stalls['per_s'])} stalls/s"
    return f"; {many}, {percent(stalls['share'], 1)} of the time"


def longest_stall(stability: Evenness) -> str:
    """Write the length of the longest stall for a cell of a table; a dash if only whole seconds could tell."""
    stalls, still_s = stability.get("stalls"), stability["longest_without_completion_s"]
    if stalls and stalls["count"]:
        return length(1000 * stalls["longest_ms"])
    return f"{whole(still_s)} s" if still_s else "none" if stalls else UNKNOWN


def ratio(comparison: RatioDocument | None) -> str:
    """Write a comparison's ratio, never without its interval; empty if there is none.

    If the client limited the faster side, the ratio is a bound.
    """
    if not comparison or comparison["ratio"] is None or comparison["low"] is None or comparison["high"] is None:
        return ""
    centre, low, high = factor(comparison["ratio"]), factor(comparison["low"]), factor(comparison["high"])
    bound = {"slower": "≤ ", "faster": "≥ "}.get(comparison["verdict"], "") if comparison["least"] else ""
    return f"{bound}{centre}× [{low}, {high}]"


def factor(value: float) -> str:
    """Write a ratio with three digits, its zeros among them; from 100 on as a whole number."""
    return f"{value:,.0f}" if value >= 100 else f"{value:#.3g}"


def when(unix_s: float | None) -> str:
    """Write a time for people."""
    return datetime.fromtimestamp(unix_s, UTC).strftime("%Y-%m-%d %H:%M UTC") if unix_s else "at an unknown time"


def latency_unit(trials: Iterable[TrialDocument]) -> tuple[str, float]:
    """Choose one unit for all latencies shown together. Returns its name and its length in µs."""
    all_trials = list(trials)
    name = time_name(all_trials)
    times = [times_us(trial["transaction"], name) for trial in all_trials]
    medians = [time["p50"] for time in times if time["p50"] is not None]
    seconds = any((time["p99"] or 0) >= 1e6 for time in times)
    return ("ms", 1000.0) if seconds or (medians and min(medians) >= 200) else ("µs", 1.0)


def one_unit(times_us: Iterable[float | None]) -> tuple[str, float]:
    """Choose one unit for times that stand in one column. Returns its name and its length in µs.

    The longest decides as it is written, with three digits: 999.6 µs are 1.00 ms.
    """
    longest = float(f"{max((time for time in times_us if time is not None), default=0.0):.3g}")
    return ("s", 1e6) if longest >= 1e7 else ("ms", 1e3) if longest >= 1e3 else ("µs", 1.0)


def duration(seconds: float) -> str:
    """Write how long something took, as finely as a person waits: `1 min 49 s`, `45 s`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def length(time_us: float | None) -> str:
    """Write a time with its unit and three significant digits; `None` as a dash."""
    if time_us is None:
        return UNKNOWN
    unit, length_us = one_unit([time_us])
    return f"{significant(time_us / length_us)} {unit}"


def short_workloads(names: Sequence[str]) -> list[str]:
    """Return the names of workloads; variants of one workload are named by their options."""
    workloads = list(map(named_workload, names))
    are_variants = len({workload.name for workload in workloads}) == 1 and all(read.variant for read in workloads)
    return [workload.variant for workload in workloads] if are_variants else list(names)


def groups(document: RunDocument) -> dict[tuple[str, str | None], list[TrialDocument]]:
    """Return the trials that have something to show, by (label, workload), in the order of the run.

    A pipeline or a network delay makes another label: no line joins such trials. Open loops at a share of capacity are
    left out, because they have their own table (`dbdyno.report.sections.capacity`).
    """
    by_group: dict[tuple[str, str | None], list[TrialDocument]] = {}
    for trial in document["trials"]:
        if trial["system"] is not None and share_of(trial) is None:
            by_group.setdefault((label_of(trial), trial["workload"]), []).append(trial)
    return by_group


def label_of(trial: LabelledDocument) -> str:
    """Return the label of a trial's system, with its pipeline and its network delay if it has them."""
    pipeline = f", pipeline {trial['pipeline']}" if trial["pipeline"] > 1 else ""
    away = f", {delay_us:,} µs away" if (delay_us := trial.get("network_delay_us")) else ""
    return f"{trial['label']}{pipeline}{away}"


def best_by_group(document: RunDocument) -> list[TrialDocument]:
    """Return the complete trial with the highest throughput of each group, the highest first."""
    best = []
    for trials in groups(document).values():
        complete = [trial for trial in trials if trial["state"] == "complete" and trial["throughput_per_s"]]
        if complete:
            best.append(max(complete, key=rate_per_s))
    return sorted(best, key=rate_per_s, reverse=True)


def durability_classes(document: RunDocument) -> list[str]:
    """Return the classes that occur among the trials, lowest first."""
    return sorted({str(trial["durability"]) for trial in document["trials"] if trial["durability"]})


def limits(by_label: Mapping[str, str]) -> str:
    """Return what limited each system, by its label; systems with the same limit stand together."""
    by_limit: dict[str, list[str]] = {}
    for label, limit in by_label.items():
        by_limit.setdefault(limit, []).append(label)
    unknown = {words: by_limit.pop(words) for words in (UNEXPLAINED, NOT_SEEN) if words in by_limit}
    if len(by_label) == 1 and by_limit:
        return f"It was limited by {next(iter(by_limit))}."
    said = [f"{listed(labels)} by {limit}" for limit, labels in by_limit.items()]
    parts = [f"Limited: {'; '.join(said)}."] if said else []
    for limit, labels in unknown.items():
        whose = f" of {listed(labels)}" if said or len(unknown) > 1 else ""
        parts.append(f"The limit{whose} {'is unknown' if limit == UNEXPLAINED else 'was not observed'}.")
    return " ".join(parts)


def durability_caution(document: RunDocument) -> str | None:
    """Return the badge of a ranking across durability classes, or `None` for one class (docs/statistics.md, section
    7)."""
    classes = durability_classes(document)
    if len(classes) < 2:
        return None
    return f"Durability classes differ ({', '.join(classes)}): not like with like."


def not_complete(document: RunDocument) -> list[tuple[str, str]]:
    """Return what is missing or must not be used, as (name of a trial or system, state and reason)."""
    marked = [
        (trial_name(trial), trial["state"] + (f": {trial['reason']}" if trial["reason"] else ""))
        for trial in document["trials"]
        if trial["state"] not in ("complete", "not reached")
    ]
    unreached = [trial_name(trial) for trial in document["trials"] if trial["state"] == "not reached"]
    # A run that was cut short early can have hundreds.
    if unreached:
        others = f", nor {len(unreached) - 1} more" if unreached[1:] else ""
        marked.append((unreached[0], f"not reached{others}"))
    skipped = [(str(system.get("system")), f"skipped: {system.get('reason')}") for system in document["skipped"]]
    return marked + skipped + [(_name_of_sweep(sweep), str(sweep["reason"])) for sweep in document["left_out"]]


def _name_of_sweep(left_out: LeftOutStated) -> str:
    pipeline, delay_us = left_out["pipeline"], left_out.get("network_delay_us") or 0
    system: LabelledDocument = {"label": left_out["system"], "pipeline": pipeline, "network_delay_us": delay_us}
    return f"{label_of(system)}, {left_out['workload']}"


def trial_name(trial: TrialDocument) -> str:
    """Return the name of a trial: its system and its load, and which repetition it is."""
    if trial["system"] is None:
        return str(trial["trial"])
    repeat = f", repetition {trial['repeat']}" if (trial["repeat"] or 1) > 1 else ""
    return f"{label_of(trial)}, {at(trial).removeprefix('at ')}{repeat}"


def warnings_by_text(document: RunDocument) -> list[tuple[str, str]]:
    """Return each warning once, as (the trial that carries it, or how many of which systems, text)."""
    by_text: dict[str, list[TrialDocument]] = {}
    for trial in document["trials"]:
        for warning in trial["warnings"]:
            by_text.setdefault(warning, []).append(trial)
    return [(_names(trials), warning) for warning, trials in by_text.items()]


def _names(trials: Sequence[TrialDocument]) -> str:
    if len(trials) == 1:
        return trial_name(trials[0])
    return f"{', '.join(dict.fromkeys(map(label_of, trials)))}, {len(trials)} trials"


def steady_state(trial: TrialDocument) -> str:
    """Return a trial's steady state in a few characters: its class, and after how many seconds it begins."""
    state = trial["steady_state"]
    name = {NO_STEADY_STATE: "none", TOO_SHORT: UNKNOWN}.get(state["class"], state["class"])
    return f"{name} {state['cut_s']} s" if state["cut_s"] and state["steady"] else name


def long_enough(trials: Iterable[TrialDocument]) -> bool:
    """Return whether any of the trials is long enough to tell whether it has a steady state."""
    return any(trial["steady_state"]["class"] != TOO_SHORT for trial in trials)


def automatic_warmup(document: RunDocument) -> str | None:
    """Return when figures begin with `warmup = "auto"`, or `None` without it."""
    trials = [trial for trial in document["trials"] if trial["warmup"] == "auto"]
    left = [trial["steady_state"]["class"] for trial in trials if not trial["steady_state"]["applied"]]
    if not trials:
        return None
    said = "Figures begin where the steady state does (warmup = auto)"
    if not left:
        return said + "."
    why = ", ".join(dict.fromkeys(left))
    return f"{said}; in {len(left)} of {len(trials)} trials ({why}) after `warmup_seconds`."


def limit_sentences(document: RunDocument) -> list[tuple[str, str]]:
    """Return what limited the best trial of each group, as (name of the trial, sentence)."""
    best = best_by_group(document)
    several = len({trial["workload"] for trial in best}) > 1
    return [
        (f"{trial_name(trial)}, {trial['workload']}" if several else trial_name(trial), verdict.sentence)
        for trial in best
        if (verdict := trial.get("verdict"))
    ]


def client_limited(document: RunDocument) -> str | None:
    """Return the meaning of the mark of client-limited figures, or `None` if there are none."""
    if not any(trial["client_limited"] for trial in document["trials"]):
        return None
    return "≥ limited by the client, or near its ceiling: a lower bound of what the store can do"


def observing(document: RunDocument) -> str | None:
    """Return the cost of observing, and what could not be observed."""
    cost = observing_cost(document)
    bands = dict.fromkeys(unseen["band"] for trial in document["trials"] for unseen in trial["not_seen"])
    return f"{cost} Not observed: {', '.join(bands)}." if cost and bands else cost


def observing_cost(document: RunDocument) -> str | None:
    """Return the cost of observing, or `None` if nothing was observed."""
    shares = [share for trial in document["trials"] if (share := trial.get("observer_cpu_share")) is not None]
    return f"Observing took at most {max(shares):.1%} of one processor." if shares else None


def run_state(document: RunDocument) -> str | None:
    """Return a sentence about a run that is not complete, or `None`."""
    if document["state"] == "complete":
        return None
    if document["state"] == "running":
        return "This run did not end: it is still going, or was killed. What was recorded is shown."
    reason = f": {document['reason']}" if document["reason"] else "."
    return {"failed": "This run failed", "interrupted": "This run was interrupted"}.get(
        str(document["state"]), f"This run is {document['state']}"
    ) + reason


def repeated(document: RunDocument) -> bool:
    """Return whether any cell was run more than once."""
    return any((trial["repeat"] or 1) > 1 for trial in document["trials"])


def worst_stall(trials: Sequence[TrialDocument]) -> str | None:
    """Return the trial with the longest stall, or else with the lowest floor, in a sentence; `None` if none is
    known."""
    worst = max(trials, key=_longest_stall_ms, default=None)
    if worst and stalled(worst["stability"]):
        stalls, longest = worst["stability"].get("stalls"), longest_stall(worst["stability"])
        often = _how_often(stalls) if stalls else ""
        return f"Longest stall: {trial_name(worst)}, {longest} without a completion{often}."
    known = [(floor, trial) for trial in trials if (floor := trial["stability"]["floor"]) is not None]
    floor, lowest = min(known, key=lambda pair: pair[0], default=(None, None))
    if lowest is None:
        return None
    return f"No second stalled. Lowest floor: {trial_name(lowest)}, {percent(floor)} of its median second."


def _longest_stall_ms(trial: TrialDocument) -> float:
    """Return the longest stall worth a mention; 0 without one."""
    stalls, still_s = trial["stability"].get("stalls"), trial["stability"]["longest_without_completion_s"]
    return float(stalls["longest_ms"] if stalls and stalls["notable"] else 1000 * (still_s or 0))


def hit_ratio(trial: CountedDocument) -> float | None:
    """Return the share of a cache's lookups that found something, 0 to 1; `None` without a cache."""
    hits, misses = trial["counters"].get("cache_hits", 0), trial["counters"].get("cache_misses", 0)
    return hits / (hits + misses) if hits + misses else None


def hit_ratios(document: RunDocument) -> bool:
    """Return whether any trial has a cache."""
    return any(hit_ratio(trial) is not None for trial in document["trials"])


def cached(document: RunDocument) -> list[str]:
    """Return for every complete trial with a cache its hit ratio, and how many hits were stale."""
    sentences = []
    for trial in document["trials"]:
        if trial["state"] != "complete" or (ratio := hit_ratio(trial)) is None:
            continue
        hits, stale = trial["counters"].get("cache_hits", 0), trial["counters"].get("stale_reads", 0)
        late = f"; {stale:,} of {hits:,} hits were older than a change acknowledged before" if stale else ""
        said = f"{percent(ratio, 1)} of the lookups found something in the cache"
        sentences.append(f"{trial_name(trial)}: {said}{late}{_moved(trial)}.")
    return sentences


def _moved(trial: TrialDocument) -> str:
    """Return how many of the requested keys moved to another node since the pool changed, and how many should."""
    keys = trial.get("moved_keys")
    if not keys or not keys["asked"]:
        return ""
    moved, due = (percent(keys[which] / keys["asked"], 1) for which in ("moved", "due"))
    return (
        f"; {keys['moved']:,} of the {keys['asked']:,} requested keys have another node since the pool changed "
        f"({moved}; its share was {due})"
    )


def checks_passed(document: RunDocument) -> str:
    """Return how many of the checks after the run passed."""
    checks = [check["ok"] for trial in document["trials"] for check in trial["checks"]]
    untold = f", {checks.count(None)} that the store cannot answer" if None in checks else ""
    return f"{checks.count(True)} of {len(checks) - checks.count(None)} checks right{untold}"
