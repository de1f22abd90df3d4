"""How figures are written, and the sentences that table and report share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dbdyno.report.loads import Document, at, time_name, times_us
from dbdyno.stats.steady_state import NO_STEADY_STATE, TOO_SHORT

UNKNOWN = "–"


def significant(value: float | None) -> str:
    """Write a number with three significant digits, thousands apart; `None` as a dash."""
    if value is None:
        return UNKNOWN
    size = abs(value)
    if size >= 100 or value == 0:
        return f"{value:,.0f}"
    if size >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}" if size >= 1 else f"{value:.2g}"


def whole(value: float | None) -> str:
    """Write a count with its thousands apart; `None` as a dash."""
    return UNKNOWN if value is None else f"{value:,.0f}"


def percent(share: float | None) -> str:
    """Write a share as whole percent; `None` as a dash."""
    return UNKNOWN if share is None else f"{100 * share:.0f}%"


def short_count(value: float) -> str:
    """Write a count in at most five characters: 940, 21k, 1.2M."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if value >= size:
            scaled = value / {"G": 1e9, "M": 1e6, "k": 1e3}[unit]
            return f"{scaled:.1f}{unit}" if scaled < 10 else f"{scaled:.0f}{unit}"
    return f"{value:.0f}"


def latency_unit(trials: Iterable[Document]) -> tuple[str, float]:
    """Choose one unit for all latencies shown together. Returns its name and its length in µs."""
    shown = list(trials)
    name = time_name(shown)
    times = [times_us(trial["transaction"], name) for trial in shown]
    medians = [time["p50"] for time in times if time["p50"] is not None]
    seconds = any((time["p99"] or 0) >= 1e6 for time in times)
    return ("ms", 1000.0) if seconds or (medians and min(medians) >= 200) else ("µs", 1.0)


def groups(document: Document) -> dict[tuple[str, str | None], list[Document]]:
    """The trials that have something to show, by (label, workload), in the order of the run.

    Pipelining is another way to use a store, so it is another label: no line joins it with what is not pipelined.
    """
    found: dict[tuple[str, str | None], list[Document]] = {}
    for trial in document["trials"]:
        if trial["system"] is not None:
            found.setdefault((_label(trial), trial["workload"]), []).append(trial)
    return found


def _label(trial: Document) -> str:
    return trial["label"] + (f", pipeline {trial['pipeline']}" if trial["pipeline"] > 1 else "")


def best_by_group(document: Document) -> list[Document]:
    """The complete trial with the highest throughput of each group, the highest first."""
    best = []
    for trials in groups(document).values():
        complete = [trial for trial in trials if trial["state"] == "complete" and trial["throughput_per_s"]]
        if complete:
            best.append(max(complete, key=lambda trial: trial["throughput_per_s"]))
    return sorted(best, key=lambda trial: -trial["throughput_per_s"])


def durability_classes(document: Document) -> list[str]:
    """The classes that occur among the trials, lowest first."""
    return sorted({str(trial["durability"]) for trial in document["trials"] if trial["durability"]})


def highest(document: Document) -> str:
    """The observation a person looks for first, as an observation: what was searched for, else the highest figure."""
    if document["find_rate"]:
        return " ".join(search["sentence"] for search in document["find_rate"])
    best = best_by_group(document)
    if not best:
        return "No trial was completed, so there is no figure to name."
    top, workloads = best[0], {trial["workload"] for trial in best}
    of = f" of {top['workload']}" if len(workloads) > 1 else ""
    least = "at least " if top["client_limited"] else ""
    kind = "achieved" if top["rate"] else "measured"
    return f"Highest {kind}: {_label(top)}, {least}{whole(top['throughput_per_s'])} transactions/s{of} {at(top)}."


def caution(document: Document) -> str:
    """Why the highest figure names no winner (METHODS §3)."""
    repeats = {trial["repeat"] or 1 for trial in document["trials"] if trial["system"] is not None}
    if not repeats:
        return ""
    if max(repeats) == 1:
        return "No interval, no winner: one trial each."
    return f"No interval is computed over the {max(repeats)} repetitions, so no winner is named: every one is shown."


def durability_caution(document: Document) -> str | None:
    """The badge a ranking across durability classes carries (METHODS §7), or `None` where all are of one class."""
    classes = durability_classes(document)
    if len(classes) < 2:
        return None
    return f"Durability classes differ ({', '.join(classes)}): not like with like."


def not_complete(document: Document) -> list[tuple[str, str]]:
    """What is missing or must not be used, as (name of a trial or system, state and reason)."""
    marked = [
        (_name(trial), trial["state"] + (f": {trial['reason']}" if trial["reason"] else ""))
        for trial in document["trials"]
        if trial["state"] != "complete"
    ]
    skipped = [(str(one.get("system")), f"skipped: {one.get('reason')}") for one in document["skipped"]]
    return marked + skipped


def _name(trial: Document) -> str:
    if trial["system"] is None:
        return str(trial["trial"])
    repeat = f", repetition {trial['repeat']}" if (trial["repeat"] or 1) > 1 else ""
    return f"{_label(trial)}, {at(trial).removeprefix('at ')}{repeat}"


def warnings_by_text(document: Document) -> list[tuple[str, Sequence[str]]]:
    """Each trial with its warnings, those without left out."""
    return [(_name(trial), trial["warnings"]) for trial in document["trials"] if trial["warnings"]]


def steady_state(trial: Document) -> str:
    """A trial's steady state in a few characters: its class, and after how many seconds it begins."""
    found = trial["steady_state"]
    name = {NO_STEADY_STATE: "none", TOO_SHORT: UNKNOWN}.get(found["class"], found["class"])
    return f"{name} {found['cut_s']} s" if found["cut_s"] and found["steady"] else name


def long_enough(trials: Iterable[Document]) -> bool:
    """Whether any of the trials is long enough to tell whether it has a steady state."""
    return any(trial["steady_state"]["class"] != TOO_SHORT for trial in trials)


def automatic_warmup(document: Document) -> str | None:
    """From where on figures count with `warmup = "auto"`, or `None` without it."""
    trials = [trial for trial in document["trials"] if trial["warmup"] == "auto"]
    left = [trial["steady_state"]["class"] for trial in trials if not trial["steady_state"]["applied"]]
    if not trials:
        return None
    said = "Figures begin where the steady state does (warmup = auto)"
    if not left:
        return said + "."
    why = ", ".join(dict.fromkeys(left))
    return f"{said}; in {len(left)} of {len(trials)} trials ({why}) after the seconds that were asked for."


def limits(document: Document) -> list[tuple[str, str]]:
    """What limited the best trial of each group, as (name of the trial, sentence)."""
    return [(_name(trial), trial["verdict"]["sentence"]) for trial in best_by_group(document) if trial.get("verdict")]


def client_limited(document: Document) -> str | None:
    """What the mark of client-limited figures means, or `None` where there are none."""
    if not any(trial["client_limited"] for trial in document["trials"]):
        return None
    return "≥ limited by the client: a lower bound of what the store can do"


def observing(document: Document) -> str | None:
    """What observing took, and what could not be observed."""
    shares = [share for trial in document["trials"] if (share := trial.get("observer_cpu_share")) is not None]
    if not shares:
        return None
    bands = dict.fromkeys(one["band"] for trial in document["trials"] for one in trial["not_seen"])
    unseen = f" Not seen: {', '.join(bands)}." if bands else ""
    return f"Observing took at most {max(shares):.1%} of one processor.{unseen}"


def run_state(document: Document) -> str | None:
    """What to say of a run that is not complete, or `None`."""
    if document["state"] == "complete":
        return None
    if document["state"] == "running":
        return "This run did not end: it is still going, or was killed. What was recorded is shown."
    reason = f": {document['reason']}" if document["reason"] else "."
    return {"failed": "This run failed", "interrupted": "This run was interrupted"}.get(
        str(document["state"]), f"This run is {document['state']}"
    ) + reason


def repeated(document: Document) -> bool:
    """Whether any cell was run more than once."""
    return any((trial["repeat"] or 1) > 1 for trial in document["trials"])


def hit_ratio(trial: Document) -> float | None:
    """The share of a cache's lookups that found something, 0 to 1; `None` without a cache."""
    hits, misses = trial["counters"].get("cache_hits", 0), trial["counters"].get("cache_misses", 0)
    return hits / (hits + misses) if hits + misses else None


def hit_ratios(document: Document) -> bool:
    """Whether any trial has a cache."""
    return any(hit_ratio(trial) is not None for trial in document["trials"])


def checks_passed(document: Document) -> str:
    """How many of the checks after the run came out right."""
    checks = [check["ok"] for trial in document["trials"] for check in trial["checks"]]
    untold = f", {checks.count(None)} that the store cannot answer" if None in checks else ""
    return f"{checks.count(True)} of {len(checks) - checks.count(None)} checks right{untold}"
