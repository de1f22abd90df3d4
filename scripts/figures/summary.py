"""A run's summary as results/ keeps it: `dbdyno show --json` without series, histograms and lists of processes."""

import json
from collections.abc import Mapping
from typing import Any

Document = dict[str, Any]

RUN = (
    "run",
    "experiment",
    "question",
    "command",
    "dbdyno",
    "state",
    "started_unix_s",
    "ended_unix_s",
    "headline",
    "comparison",
    "option_comparison",
    "skipped",
    "left_out",
    "find_rate",
    "client_libraries",
    "connection_memory",
    "scalability",
)
TRIAL = (
    "label",
    "embedded",
    "client",
    "client_library",
    "state",
    "reason",
    "workload",
    "options",
    "rows",
    "clients",
    "repeat",
    "pipeline",
    "network_delay_us",
    "rate",
    "durability",
    "seconds",
    "warmup_seconds",
    "throughput_per_s",
    "offered_per_s",
    "followed",
    "errors",
    "failed",
    "mismatches",
    "reads_verified",
    "client_limited",
    "cache_state",
    "crash",
    "copy",
    "warm_up",
    "loaded",
    "replicas",
    "load",
    "counters",
    "cost",
    "stability",
)
TIMES = ("count", "service_time_us", "response_time_us")
GROUP = ("name", "clients", "throughput_per_s", "offered_per_s", "followed", "errors", *TIMES)
QUERY = ("name", "what", "columns", "cold_s", "hot_s", "differs")
VERDICT = ("limit", "sentence", "confidence", "runner_up")
UNROUNDED = 1e9
"""Numbers from here on are times since 1970, or bytes."""
SERIES = ("slots", "worst", "steal_slots")
LONG_S = 300
"""The fewest measured seconds of a trial whose minutes are kept."""


def summary(document: Mapping[str, Any]) -> Document:
    """Return what results/ keeps of `dbdyno show --json`."""
    kept: Document = {key: document[key] for key in RUN}
    if any(trial.get("crash") for trial in document["trials"]):
        # What was killed is not compared by its speed.
        kept |= {"comparison": None, "option_comparison": None}
    if events := document.get("events"):
        kept["events"] = events
    kept["environment"] = _without_series(document["environment"])
    kept["trials"] = [_trial(trial) for trial in document["trials"]]
    return kept


def text(kept: Document) -> str:
    """Return a summary as JSON with a line for each key and trial, and numbers of six significant digits."""
    lines = {key: _line(value) for key, value in sorted(kept.items())}
    lines["trials"] = "[\n" + ",\n".join(map(_line, kept["trials"])) + "\n]"
    return "{\n" + ",\n".join(f'"{key}": {line}' for key, line in lines.items()) + "\n}\n"


def _line(value: Any) -> str:
    return json.dumps(_rounded(value), sort_keys=True)


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_rounded(part) for part in value]
    return float(f"{value:.6g}") if isinstance(value, float) and value < UNROUNDED else value


def _trial(trial: Mapping[str, Any]) -> Document:
    kept: Document = {key: trial[key] for key in TRIAL if trial.get(key) is not None}
    kept["verdict"] = _chosen(trial["verdict"] or {}, VERDICT)
    kept["transaction"] = _chosen(trial["transaction"] or {}, TIMES)
    kept["operations"] = {name: _chosen(times, TIMES) for name, times in (trial["operations"] or {}).items()}
    if analysis := trial.get("analysis"):
        limits = {name: {"limit": verdict["limit"]} for name, verdict in (trial.get("query_verdicts") or {}).items()}
        kept["analysis"] = {
            "cold": analysis["cold"],
            "queries": [_chosen(query, QUERY) | limits.get(query["name"], {}) for query in analysis["queries"]],
        }
    if groups := trial.get("client_groups"):
        kept["client_groups"] = [_chosen(group, GROUP) for group in groups]
    # `ok` is null if a store cannot tell: memcached has no count of its keys.
    results = [check["ok"] for check in trial["checks"]]
    kept["checks"] = {"made": sum(ok is not None for ok in results), "failed": sum(ok is False for ok in results)}
    kept["servers"] = [_chosen(server, ("name", "version")) for server in trial["servers"]]
    kept["steady_state"] = (trial["steady_state"] or {}).get("class")
    measured = [second for second in trial.get("timeline") or () if not second["warmup"]]
    if len(measured) >= LONG_S:
        kept["minutes"] = [_minute(measured[begin : begin + 60]) for begin in range(0, len(measured), 60)]
    return kept


def _minute(seconds: list[Mapping[str, Any]]) -> Document:
    """Return the throughput of a minute, and the mean of the old row versions that a store had in it."""
    old = [second["old_rows"] for second in seconds if "old_rows" in second]
    length_s = sum(second["seconds"] for second in seconds)
    return {
        "throughput_per_s": sum(second["transactions"] for second in seconds) / length_s,
        "old_rows": sum(old) / len(old) if old else None,
    }


def _chosen(mapping: Mapping[str, Any], keys: tuple[str, ...]) -> Document:
    return {key: mapping[key] for key in keys if mapping.get(key) is not None}


def _without_series(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_series(part) for key, part in value.items() if key not in SERIES}
    return value
