"""The cost of client libraries: each library beside the native client, on the same load."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dbdyno.report.core import words
from dbdyno.report.core.loads import at, rate_per_s
from dbdyno.results.clients import without_client

if TYPE_CHECKING:
    from dbdyno.report.core.documents import LibraryCostDocument, RunDocument
    from dbdyno.report.core.trial_documents import TrialDocument

NATIVE = "native"


def library_costs(trials: Iterable[TrialDocument]) -> list[LibraryCostDocument]:
    """Return, for each library and load that the native client ran too, the ratio of the two over all repetitions.

    `throughput_ratio` is the geometric mean of the repetitions' ratios, `lowest` and `highest` their range;
    `client_cpu_ratio` is a mean too. Only complete trials whose every answer was right are compared.
    """
    usable = [trial for trial in trials if _usable(trial)]
    native = {_key(trial): trial for trial in usable if trial["client"] == NATIVE}
    pairs: dict[str, list[tuple[TrialDocument, TrialDocument]]] = {}
    for trial in usable:
        if trial["client"] != NATIVE and (other := native.get(_key(trial))):
            cell = json.dumps([trial["label"], trial["workload"], trial["clients"]])
            pairs.setdefault(cell, []).append((trial, other))
    return [_cost(cell) for cell in pairs.values()]


def _usable(trial: TrialDocument) -> bool:
    right = trial["state"] == "complete" and not trial["mismatches"] and not trial["failed"]
    return bool(right and trial["throughput_per_s"])


def _key(trial: TrialDocument) -> str:
    """Return the key that a trial shares with the native client's; a library's label ends with the library."""
    system = without_client(trial["label"], trial["client"]) or trial["label"]
    return json.dumps([system, trial["workload"], trial["options"], trial["rows"], trial["clients"], trial["repeat"]])


def _cost(pairs: list[tuple[TrialDocument, TrialDocument]]) -> LibraryCostDocument:
    trial, native = pairs[0]
    ratios = [rate_per_s(library_trial) / rate_per_s(native_trial) for library_trial, native_trial in pairs]
    cpu_us = [
        (library_trial["client_cpu_us_per_transaction"], native_trial["client_cpu_us_per_transaction"])
        for library_trial, native_trial in pairs
    ]
    cpu_ratios = [ours / theirs for ours, theirs in cpu_us if ours and theirs]
    return {
        "label": trial["label"],
        "client": trial["client"],
        "workload": trial["workload"],
        "clients": trial["clients"],
        "native_label": native["label"],
        "repetitions": len(pairs),
        "throughput_ratio": _mean(ratios),
        "lowest": min(ratios),
        "highest": max(ratios),
        "throughput_per_s": _mean([rate_per_s(library_trial) for library_trial, _ in pairs]),
        "native_throughput_per_s": _mean([rate_per_s(native_trial) for _, native_trial in pairs]),
        "client_cpu_ratio": _mean(cpu_ratios) if len(cpu_ratios) == len(pairs) else None,
        "own_cpu_us_per_transaction": trial["client_own_cpu_us_per_transaction"],
    }


def _mean(ratios: list[float]) -> float:
    """The geometric mean."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def understated(document: RunDocument) -> Iterator[str]:
    """Yield each library's throughput relative to the native client's, at the load where that was highest."""
    peaks: dict[tuple[str, str | None], LibraryCostDocument] = {}
    for cost in document["client_libraries"]:
        key = cost["label"], cost["workload"]
        if key not in peaks or cost["native_throughput_per_s"] > peaks[key]["native_throughput_per_s"]:
            peaks[key] = cost
    for cost in peaks.values():
        yield _sentence(cost)
    if peaks:
        yield "A figure through a client shows what store and client reach together. These ratios have no interval."


def _sentence(cost: LibraryCostDocument) -> str:
    ratio = f"{words.significant(cost['throughput_ratio'])} × the native client's throughput"
    rates = f"{words.whole(cost['throughput_per_s'])} against {words.whole(cost['native_throughput_per_s'])}/s"
    cpu, own_us = "", cost["own_cpu_us_per_transaction"]
    if cost["client_cpu_ratio"]:
        own = f", of which dbdyno used {words.significant(own_us)} µs" if own_us else ""
        cpu = f" Client CPU per transaction: {words.significant(cost['client_cpu_ratio'])} × the native client's{own}."
    often = "one trial each"
    if cost["repetitions"] > 1:
        spread = f"{words.significant(cost['lowest'])} to {words.significant(cost['highest'])}"
        often = f"{spread} in {cost['repetitions']} repetitions"
    load = at({"clients": cost["clients"], "rate": None})
    return f"{cost['label']}, {cost['workload']} {load}: {ratio} ({rates}; {often}).{cpu}"
