"""Tables and sentences of pages, from kept summaries; each function is one kind of block."""

from collections.abc import Callable, Iterator, Mapping
from statistics import median
from time import gmtime, strftime
from typing import Any

from scripts.figures.declared import Figures
from scripts.figures.form import figures_table, three
from scripts.figures.kinds import (
    agreement,
    connection_memory,
    copies,
    crashes,
    events,
    lags,
    libraries,
    loads,
    minutes,
    queries,
    query_limits,
    scans,
    stability,
)
from scripts.figures.relative import Relative, relative, systems_of
from scripts.reference.markdown import code, prose

from dbdyno.report.core.words import hit_ratio
from dbdyno.verdict.limits import noun_of

Document = Mapping[str, Any]
COMMAND_WIDTH = 110
"""Characters of a line of a command, without the backslash that continues it."""

Block = Callable[[Figures, Document], str]


def measured(figures: Figures, run: Document) -> str:
    """Say what was run, when, on which host, and whether every answer was right."""
    trials = run["trials"]
    host = run["environment"]
    repeats = max(trial["repeat"] for trial in trials)
    sentences = (
        f"Measured on {day(run)} with dbdyno {run['dbdyno']}, "
        f"on {_host(host)} ({host['cpu_model']}, load average {host['load_average'][0]:.2f} before).",
        f"{_trials(trials)}, " + _repeated(repeats, figures.once),
        f"Versions: {', '.join(_versions(trials))}.",
        _checked(trials),
    )
    return f"{prose(' '.join(sentences))}\n\n```\n{wrapped(figures.command)}\n```"


def _repeated(repeats: int, once: str) -> str:
    """Say how often each cell was run, and why not oftener if these are fewer than five."""
    if repeats == 1:
        return f"one a cell: {once}."
    return f"{repeats} repetitions in random order" + (f", and no more: {once}." if repeats < 5 else ".")


def day(run: Document) -> str:
    """Return the day on which a run began."""
    return strftime("%Y-%m-%d", gmtime(run["started_unix_s"]))


def _trials(trials: list[Document]) -> str:
    """Say how many trials of which length there were."""
    first, plural = trials[0], "s" * (len(trials) > 1)
    if first.get("analysis"):
        asked = max(len(query["hot_s"]) for query in first["analysis"]["queries"])
        return f"{len(trials)} load{plural}, and on each every query once cold and {asked} times hot"
    if first.get("crash"):
        return f"{len(trials)} crash{'e' * bool(plural)}{plural}, each under a load of writes"
    if first.get("copy"):
        return f"{len(trials)} cop{'ies' if plural else 'y'}, each dumped, restored and compared"
    return f"{len(trials)} trial{plural} of {first['seconds']:g} s after {first['warmup_seconds']:g} s"


def throughput(figures: Figures, run: Document) -> str:
    """Return throughput of each system at each number of clients: the median, and the range of the repetitions."""
    return _throughput(run, _rate)


def medians(figures: Figures, run: Document) -> str:
    """Return throughput of each system at each number of clients: the median of the repetitions."""
    return _throughput(run, _median)


def _throughput(run: Document, cell: Callable[[list[Document]], str]) -> str:
    clients = sorted({trial["clients"] for trial in run["trials"]})
    heads = [f"{count} client{'s' * (count > 1)}" if count == clients[0] else str(count) for count in clients]
    rows = [
        (name, durability, *(cell([trial for trial in trials if trial["clients"] == count]) for count in clients))
        for (name, durability), trials in _rows(run)
    ]
    return figures_table(("Transactions/s", "Class", *heads), rows, left=2)


def limits(figures: Figures, run: Document) -> str:
    """Return what limited the median trial of each system at its own best load, with p99 there."""
    return figures_table(
        ("At its best load", "Clients", "Transactions/s", "p99, ms", "Limited by", "Confidence"),
        [_limit(name, trials) for (name, _), trials in _rows(run)],
        left=1,
    )


def ratios(figures: Figures, run: Document) -> str:
    """Return each pair of systems of a repeated run: ratio of throughput, 95 % interval and conclusion."""
    return figures_table(
        ("System", "Against", "Clients", "Ratio", "95 % interval", "Conclusion"),
        [
            (
                row_name((cell["candidate"]["label"], cell["workload"], delay_us(cell)), run),
                code(cell["baseline"]["label"]),
                str(cell["clients"]),
                three(cell["ratio"]),
                f"{three(cell['low'])} to {three(cell['high'])}",
                cell["verdict"],
            )
            for cell in (run["comparison"] or {"cells": ()})["cells"]
        ],
        left=2,
    )


def options(figures: Figures, run: Document) -> str:
    """Return each variant of a workload against the first on the same system: ratio, 95 % interval and conclusion."""
    return figures_table(
        ("System", "Variant", "Against", "Clients", "Ratio", "95 % interval", "Conclusion"),
        [
            (
                cell["baseline"]["label"],
                cell["candidate"]["variant"],
                cell["baseline"]["variant"],
                str(cell["clients"]),
                three(cell["ratio"]),
                f"{three(cell['low'])} to {three(cell['high'])}",
                cell["verdict"],
            )
            for cell in run["option_comparison"]["cells"]
        ],
        left=3,
    )


def warm_ups(figures: Figures, run: Document) -> str:
    """Return each trial after a restart: its first second, its warm rate, and the time until 95 % of that."""
    rows = [
        (
            trial["label"],
            str(trial["repeat"]),
            f"{warm_up['first_per_s']:,.0f}",
            f"{warm_up['warm_per_s']:,.0f}",
            f"> {trial['seconds']:g}" if warm_up["seconds"] is None else str(warm_up["seconds"]),
        )
        for trial in run["trials"]
        if (warm_up := trial["warm_up"])
    ]
    heads = ("After a restart", "Repetition", "First second, /s", "Warm, /s", "95 % warm after, s")
    return figures_table(heads, rows, left=1)


def headline(figures: Figures, run: Document) -> str:
    """Return the answer, and of each other system the ratio to the leader at the loads that the answer names."""
    answer = run["headline"]
    rows = [
        (label, three(cell["ratio"]), f"{three(cell['low'])} to {three(cell['high'])}", cell["verdict"])
        for label, cell in answer["ratios"].items()
    ]
    against = figures_table((f"Against {code(answer['leader'])}", "Ratio", "95 % interval", "Conclusion"), rows, left=1)
    return f"{prose(answer['sentence'])}\n\n{against}" if rows else prose(answer["sentence"])


def versions(figures: Figures, run: Document) -> str:
    """Return throughput of each system relative to the first, at each load, with the 95 % interval."""
    systems = systems_of(run)
    rows = [
        (f"{workload}, {clients} client{'s' * (clients > 1)}", "1", *(_relative(row.get(name)) for name in systems[1:]))
        for (workload, clients), row in relative(run).items()
    ]
    return figures_table(("Load", *map(code, systems)), rows, left=1)


def _relative(cell: Relative | None) -> str:
    return f"{three(cell.ratio)} [{three(cell.low)} to {three(cell.high)}]" if cell else "–"


def operations(figures: Figures, run: Document) -> str:
    """Return the mean time of each operation at a system's best load, the share of the dearest, and hits of a cache."""
    medians = [(name, best(trials)) for (name, _), trials in _rows(run)]
    names = list(dict.fromkeys(operation for _, trial in medians for operation in trial["operations"]))
    rows = []
    for name, trial in medians:
        means_ms = {operation: _mean_us(times) / 1000 for operation, times in trial["operations"].items()}
        spent = {operation: means_ms[operation] * trial["operations"][operation]["count"] for operation in means_ms}
        dearest = max(spent, key=spent.__getitem__)
        hits = hit_ratio(trial)
        cells = [three(means_ms[operation]) if operation in means_ms else "–" for operation in names]
        share = f"{dearest}, {spent[dearest] / sum(spent.values()):.0%}"
        rows.append((name, str(trial["clients"]), "–" if hits is None else f"{hits:.0%}", *cells, share))
    heads = ("", "Clients", "Hits", *(f"{operation}, ms" for operation in names), "Most of the time")
    return figures_table(heads, rows, left=1)


def hits(figures: Figures, run: Document) -> str:
    """Return how many lookups of a cache found something, over all repetitions, and how many of these were stale."""
    rows = []
    for (name, _), trials in _rows(run):
        for clients in sorted({trial["clients"] for trial in trials}):
            seen = [trial for trial in trials if trial["clients"] == clients and hit_ratio(trial) is not None]
            if seen:
                rows.append((name, str(clients), *_hits(seen)))
    return figures_table(("", "Clients", "Lookups", "Hits", "Lowest to highest", "Stale hits"), rows, left=1)


def _hits(trials: list[Document]) -> tuple[str, ...]:
    hit, missed, stale = (
        sum(trial["counters"].get(key, 0) for trial in trials) for key in ("cache_hits", "cache_misses", "stale_reads")
    )
    shares = [hit_ratio(trial) or 0.0 for trial in trials]
    return (
        f"{hit + missed:,}",
        f"{median(shares):.1%}",
        f"{min(shares):.1%} to {max(shares):.1%}",
        f"{stale:,} ({stale / hit:.2%})" if stale else "–",
    )


def _mean_us(times: Document) -> float:
    return float((times.get("service_time_us") or times["response_time_us"])["mean"])


def cpu(figures: Figures, run: Document) -> str:
    """Return the processor time that client and servers took for a transaction, at a system's best load."""
    rows = []
    for (name, _), trials in _rows(run):
        trial = best(trials)
        times = (trial["cost"].get(f"{side}_cpu_us") for side in ("client", "server"))
        rows.append((name, str(trial["clients"]), *("–" if time is None else three(time) for time in times)))
    return figures_table(("At its best load", "Clients", "Client's CPU, µs", "Servers' CPU, µs"), rows, left=1)


def groups(figures: Figures, run: Document) -> str:
    """Return each group of clients of each load of each system: throughput over the repetitions, and its p99."""
    rows = [
        (row, durability, f"{name}: {members[0]['clients']}", _asked(members[0]), _range(members), _p99(members))
        for (row, durability), trials in _rows(run)
        for name, members in _members(trials)
    ]
    return figures_table(("", "Class", "Clients", "Asked for", "Transactions/s", "p99, ms"), rows, left=4)


def _members(trials: list[Document]) -> Iterator[tuple[str, list[Document]]]:
    """Yield each group with its figures in the repetitions, by the number of all clients."""
    complete = [trial for trial in trials if trial["state"] == "complete"]
    for clients in sorted({trial["clients"] for trial in complete}):
        of_load = [trial["client_groups"] for trial in complete if trial["clients"] == clients]
        for number, group in enumerate(of_load[0]):
            yield group["name"], [groups[number] for groups in of_load]


def _asked(group: Document) -> str:
    return f"{group['offered_per_s']:,.0f}/s" if group.get("offered_per_s") else "as many as it can"


def _range(members: list[Document]) -> str:
    rates = [group["throughput_per_s"] for group in members]
    missed = sum(group.get("followed") is False for group in members)
    return f"{median(rates):,.0f} ({min(rates):,.0f}–{max(rates):,.0f})" + (f", missed {missed} times" * bool(missed))


def _p99(members: list[Document]) -> str:
    times = [(group.get("response_time_us") or group["service_time_us"])["p99"] for group in members]
    return three(median(times) / 1000)


BLOCKS: dict[str, Block] = {
    "groups": groups,
    "measured": measured,
    "headline": headline,
    "throughput": throughput,
    "medians": medians,
    "limits": limits,
    "ratios": ratios,
    "options": options,
    "operations": operations,
    "hits": hits,
    "cpu": cpu,
    "warm-ups": warm_ups,
    "versions": versions,
    "queries": queries,
    "query-limits": query_limits,
    "scans": scans,
    "copies": copies,
    "connection-memory": connection_memory,
    "stability": stability,
    "minutes": minutes,
    "libraries": libraries,
    "loads": loads,
    "crashes": crashes,
    "agreement": agreement,
    "events": events,
    "lags": lags,
}


def _rows(run: Document) -> Iterator[tuple[tuple[str, str], list[Document]]]:
    """Yield each row's name and durability class with its trials: a row is a system at a workload and a distance."""
    durabilities = {_row(trial): trial.get("durability", "") for trial in run["trials"]}
    for row, durability in durabilities.items():
        yield (row_name(row, run), durability), [trial for trial in run["trials"] if _row(trial) == row]


def _row(trial: Document) -> tuple[str, str, int]:
    return trial["label"], trial["workload"], delay_us(trial)


def delay_us(measured: Document) -> int:
    """Return the network delay of a trial or a comparison, 0 if it has none."""
    return measured.get("network_delay_us") or 0


def row_name(row: tuple[str, str, int], run: Document) -> str:
    """Return the name of a row: the parts in which rows differ."""
    label, workload, away_us = row
    labels, workloads = ({trial[key] for trial in run["trials"]} for key in ("label", "workload"))
    parts = [label] if len(labels) > 1 or len(workloads) == 1 else []
    if len(workloads) > 1:
        are_of_one = len({name.partition("?")[0] for name in workloads}) == 1
        parts.append((workload.partition("?")[2] if are_of_one else "") or workload)
    if len({delay_us(trial) for trial in run["trials"]}) > 1:
        parts.append(f"{away_us:,} µs away")
    return ", ".join(parts)


def _rate(trials: list[Document]) -> str:
    rates = [trial["throughput_per_s"] for trial in trials if trial["state"] == "complete"]
    spread = f" ({min(rates):,.0f}–{max(rates):,.0f})" if len(rates) > 1 else ""
    return f"{_median(trials)}{spread}"


def _median(trials: list[Document]) -> str:
    """Return throughput of the median trial, marked if that is a lower bound, as `dbdyno show` has it."""
    complete = sorted(
        (trial for trial in trials if trial["state"] == "complete"), key=lambda trial: float(trial["throughput_per_s"])
    )
    if not complete:
        return "–"
    middle = complete[len(complete) // 2]
    return f"{'≥ ' if middle['client_limited'] else ''}{middle['throughput_per_s']:,.0f}"


def _limit(name: str, trials: list[Document]) -> tuple[str, ...]:
    middle = best(trials)
    service = middle["transaction"].get("service_time_us") or middle["transaction"]["response_time_us"]
    return (
        name,
        str(middle["clients"]),
        f"{middle['throughput_per_s']:,.0f}",
        three(service["p99"] / 1000) if service.get("p99") else "–",
        noun_of(middle["verdict"]["limit"], middle["embedded"]),
        middle["verdict"]["confidence"],
    )


def best(trials: list[Document]) -> Document:
    """Return the median trial of the load at which a system's median throughput is highest."""
    loads: dict[int, list[Document]] = {}
    for trial in sorted(trials, key=lambda trial: float(trial["throughput_per_s"] or 0)):
        if trial["state"] == "complete":
            loads.setdefault(trial["clients"], []).append(trial)
    return max(
        (trials[len(trials) // 2] for trials in loads.values()), key=lambda trial: float(trial["throughput_per_s"])
    )


def _host(host: Document) -> str:
    kind = "virtual machine" if "virtual machine" in (host["virtualization"] or ()) else "machine"
    return f"a {kind} with {host['cpus']} processors and {host['memory_bytes'] / 2**30:.0f} GiB"


def _versions(trials: list[Document]) -> list[str]:
    # An embedded store that was killed could not say its version.
    known = [server for trial in trials for server in trial["servers"] if server.get("version")]
    return list(dict.fromkeys(f"{server['name']} {server['version']}" for server in known))


def _checked(trials: list[Document]) -> str:
    if any(trial.get("crash") for trial in trials):
        return "After each, every acknowledged row was compared with what the store had kept."
    errors, wrong = (sum(trial[key] for trial in trials) for key in ("failed", "mismatches"))
    checks = sum(trial["checks"]["made"] for trial in trials)
    broken = sum(trial["checks"]["failed"] for trial in trials)
    verified = sum(trial["reads_verified"] for trial in trials)
    rows = f"{verified:,} rows were read and verified, {wrong:,} were wrong; " if verified or wrong else ""
    return f"{rows}{errors:,} transactions failed; {broken} of {checks} checks of the content failed."


def quoted(words: tuple[str, ...]) -> Iterator[str]:
    """Yield the words of a command as a shell takes them."""
    for word in words:
        yield f"'{word}'" if set(word) & set("?&*[](){}| ") else word


def wrapped(words: tuple[str, ...]) -> str:
    """Return a command in lines that a shell joins; an option and its value stay together."""
    lines: list[str] = []
    for word in " ".join(quoted(words)).replace(" --", "\n--").splitlines():
        if lines and len(lines[-1]) + 1 + len(word) <= COMMAND_WIDTH:
            lines[-1] += f" {word}"
        else:
            lines.append(f"  {word}" if lines else word)
    return " \\\n".join(lines)
