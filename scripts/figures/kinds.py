"""Blocks of runs about something else than throughput: queries, copies, crashes, evenness, libraries, memory, lags."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from statistics import median
from typing import Any

from scripts.figures.declared import Figures
from scripts.figures.form import figures_table, three
from scripts.reference.markdown import code

from dbdyno.report.sections import analyses
from dbdyno.report.sections.copies import HEADINGS as COPY_HEADINGS
from dbdyno.report.sections.copies import rows as copy_rows
from dbdyno.verdict.limits import noun_of

Document = Mapping[str, Any]
NO_VERDICT = "no verdict"


def queries(figures: Figures, run: Document) -> str:
    """Return the seconds of each query on each store: cold, and the median of the hot times; medians of repetitions."""
    by_label = _by_label(run["trials"])
    names = [query["name"] for query in run["trials"][0]["analysis"]["queries"]]
    heads = ("s", *(head for label in by_label for head in (f"{label}: cold", "hot")))
    rows = [(name, *(cell for trials in by_label.values() for cell in _query(trials, name))) for name in names]
    return figures_table(heads, rows, left=1)


def _query(trials: list[Document], name: str) -> tuple[str, str]:
    asked = [query for trial in trials for query in trial["analysis"]["queries"] if query["name"] == name]
    cold = [query["cold_s"] for query in asked if query.get("cold_s") is not None]
    hot = [median(query["hot_s"]) for query in asked if query.get("hot_s")]
    return tuple(three(median(times)) if times else "no answer" for times in (cold, hot))  # type: ignore[return-value]


def query_limits(figures: Figures, run: Document) -> str:
    """Return what limited each store's hot queries, with their names; a short query is not observed often enough."""
    rows = []
    for label, trials in _by_label(run["trials"]).items():
        by_limit: dict[str, list[str]] = {}
        for query in trials[0]["analysis"]["queries"]:
            by_limit.setdefault(_limit(query, trials[0]), []).append(query["name"])
        most_first = sorted(by_limit.items(), key=lambda item: -len(item[1]))
        rows += [(label, limit, "all" if len(by_limit) == 1 else ", ".join(names)) for limit, names in most_first]
    return figures_table(("", "Limited by", "Queries"), rows, left=3)


def frequent_limits(run: Document) -> dict[str, str]:
    """Return what limited most hot queries of each store of a run that analyses a table; empty of other runs."""
    limits: dict[str, Counter[str]] = {}
    for trial in run["trials"]:
        for query in (trial.get("analysis") or {"queries": ()})["queries"]:
            limits.setdefault(trial["label"], Counter())[_limit(query, trial)] += 1
    return {label: of_label.most_common(1)[0][0] for label, of_label in limits.items()}


def _limit(query: Document, trial: Document) -> str:
    return noun_of(query["limit"], trial["embedded"]) if query.get("limit") else NO_VERDICT


def scans(figures: Figures, run: Document) -> str:
    """Return how fast each store scanned each table, by query, and the time for a column."""
    heads, *rows = analyses.scans(run["trials"])
    return figures_table(_one_line(heads), [tuple(row) for row in rows], left=2)


def copies(figures: Figures, run: Document) -> str:
    """Return how fast each store's own tools dumped and restored, by tool and workers: medians of repetitions."""
    rows = copy_rows(run["trials"])
    # The second row of two leaves out what the first said.
    named = [(*rows[index - index % 2][:3], *row[3:]) for index, row in enumerate(rows)]
    return figures_table(_one_line(COPY_HEADINGS), named, left=4)


def _one_line(heads: Iterable[str]) -> tuple[str, ...]:
    return tuple(head.replace("\n", " ") for head in heads)


def libraries(figures: Figures, run: Document) -> str:
    """Return each client library beside the native client on the same load: throughput, and processor time."""
    heads = ("", "Clients", "Throughput, × native", "Lowest to highest", "Client's CPU, × native")
    rows = [
        (
            cost["label"],
            str(cost["clients"]),
            three(cost["throughput_ratio"]),
            f"{three(cost['lowest'])} to {three(cost['highest'])}",
            three(cost["client_cpu_ratio"]) if cost["client_cpu_ratio"] else "–",
        )
        for cost in run["client_libraries"]
    ]
    return figures_table(heads, rows, left=1)


def connection_memory(figures: Figures, run: Document) -> str:
    """Return the memory of each system's servers for an idle connection: the median, and the range of repetitions."""
    rows = [
        (
            cost["label"],
            f"{cost['fewest_clients']:,} and {cost['most_clients']:,}",
            three(cost["bytes"] / 1024),
            f"{three(cost['lowest'] / 1024)} to {three(cost['highest'] / 1024)}",
        )
        for cost in run["connection_memory"]
    ]
    return figures_table(("", "Connections", "KiB for each", "Lowest to highest"), rows, left=1)


def loads(figures: Figures, run: Document) -> str:
    """Return how fast each store loaded its table, and what it takes on the disk."""
    rows = []
    for label, trials in _by_label(run["trials"]).items():
        loaded = [trial["loaded"] for trial in trials if trial.get("loaded")]
        seconds, size = (median(load[key] for load in loaded) for key in ("seconds", "size_bytes"))
        count = loaded[0]["rows"]
        rows.append(
            (
                label,
                f"{count:,}",
                three(seconds),
                f"{count / seconds:,.0f}",
                f"{size / 1e6:,.1f}",
                f"{size / count:.0f}",
            )
        )
    return figures_table(("", "Rows", "Loaded in, s", "Rows/s", "MB on disk", "Bytes a row"), rows, left=1)


def crashes(figures: Figures, run: Document) -> str:
    """Return for each setting and kind of crash: what was missing of how many acknowledged writes, over all crashes."""
    heads = ("", "Class", "Crash", "Crashes", "Acknowledged", "Missing", "Half", "Broken promises", "Back after, s")
    rows = list(_crashed(run))
    if all(row[-1] == "0" for row in rows):
        return figures_table(heads, [row[:-1] for row in rows], left=3)
    return figures_table((*heads, "Repaired first"), rows, left=3)


def _crashed(run: Document) -> Iterator[tuple[str, ...]]:
    for label, trials in _by_label(run["trials"]).items():
        for kind in dict.fromkeys(trial["crash"]["kind"] for trial in trials if trial.get("crash")):
            of_kind = [trial for trial in trials if (trial.get("crash") or {}).get("kind") == kind]
            ends = [trial["crash"] for trial in of_kind]
            acknowledged, missing, half = (
                sum(end[key] or 0 for end in ends) for key in ("acknowledged", "missing", "half_applied")
            )
            broken = sum(end["verdict"] == "broken" for end in ends)
            back = [end["ready_s"] for end in ends if end["ready_s"] is not None]
            yield (
                label,
                of_kind[0]["durability"],
                kind,
                str(len(ends)),
                f"{acknowledged:,}",
                f"{missing:,}",
                f"{half:,}" if ends[0]["writes"] == "transaction" else f"({half:,})",
                str(broken),
                three(median(back)) if back else "–",
                str(sum(bool(end.get("repaired")) for end in ends)),
            )


def agreement(figures: Figures, run: Document) -> str:
    """Return for each copy of a killed store (its log, a replica) how many writes only one of both had, added up."""
    heads = ("", "Crash", "Compared with", "Promised", "Crashes", "Only in the store", "Only there")
    rows = [
        (label, kind, name, "yes" if same[0]["promised"] else "no", str(len(same)), *_differences(same))
        for (label, kind, name), same in _copies_of_killed(run).items()
    ]
    return figures_table((*heads, "Alone it lacked", "Broken promises"), rows, left=4)


def _copies_of_killed(run: Document) -> dict[tuple[str, str, str], list[Document]]:
    copies: dict[tuple[str, str, str], list[Document]] = {}
    for label, trials in _by_label(run["trials"]).items():
        for crash in sorted((trial["crash"] for trial in trials), key=lambda crash: str(crash["kind"])):
            for copy in crash["agreement"]:
                copies.setdefault((label, crash["kind"], copy["name"]), []).append(copy)
    return copies


def _differences(same: list[Document]) -> tuple[str, ...]:
    store_only, other_only = (sum(copy[key] or 0 for copy in same) for key in ("store_only", "other_only"))
    alone = [copy["alone_missing"] for copy in same if copy["alone_missing"] is not None]
    broken = sum(copy["verdict"] == "broken" for copy in same)
    return f"{store_only:,}", f"{other_only:,}", f"{sum(alone):,}" if alone else "–", str(broken)


def stability(figures: Figures, run: Document) -> str:
    """Return how even each system was from second to second: medians of repetitions, and the lowest floor of all."""
    heads = ("", "Transactions/s", "Floor", "lowest", "Seconds below half", "Stall, ms", "Worst second's p99, ms")
    rows = []
    for label, floors, trials in floors_of(run):
        below, stall_ms, worst_us = (
            median(figure(trial["stability"]) or 0 for trial in trials)
            for figure in (
                lambda stated: stated["seconds_below_half"],
                lambda stated: stated["stalls"]["longest_ms"],
                lambda stated: stated["worst_second_p99_us"],
            )
        )
        rate = f"{median(trial['throughput_per_s'] for trial in trials):,.0f}"
        evenness = f"{median(floors):.0%}", f"{floors[0]:.0%}", f"{below:g}", three(stall_ms), three(worst_us / 1000)
        rows.append((label, rate, *evenness))
    return figures_table(heads, rows, left=1)


def minutes(figures: Figures, run: Document) -> str:
    """Return the mean of each minute of long trials: transactions a second, and the old row versions of the store."""
    trials = [trial for trial in run["trials"] if trial.get("minutes")]
    heads = [str(minute) for minute in range(1, max(len(trial["minutes"]) for trial in trials) + 1)]
    rows = []
    for trial in trials:
        rates = [f"{minute['throughput_per_s']:,.0f}" for minute in trial["minutes"]]
        old = [minute["old_rows"] for minute in trial["minutes"]]
        rows.append((trial["label"], "transactions/s", *rates))
        if None not in old:
            rows.append((trial["label"], "old rows, thousands", *(f"{count / 1000:,.0f}" for count in old)))
    return figures_table(("", "Mean of the minute", *heads), rows, left=2)


def floors_of(run: Document) -> Iterator[tuple[str, list[float], list[Document]]]:
    """Yield each system with the floors of its complete trials in rising order, and these trials."""
    for label, trials in _by_label(run["trials"]).items():
        complete = [trial for trial in trials if (trial.get("stability") or {}).get("floor") is not None]
        if complete:
            yield label, sorted(trial["stability"]["floor"] for trial in complete), complete


def lags(figures: Figures, run: Document) -> str:
    """Return how far each replica was behind in the median repetition, and the longest time it took to catch up."""
    rows = []
    for (label, clients, replica), seen in _lags(run["trials"]).items():
        cells = (_ms(median(times)) if (times := _times(seen, key)) else "–" for key in ("p50_s", "p95_s", "max_s"))
        caught_up = _times(seen, "caught_up_s")
        rows.append((label, str(clients), replica, *cells, _ms(max(caught_up)) if caught_up else "–"))
    heads = ("", "Clients", "Replica", "Lag, ms: median", "95 %", "longest", "Caught up after, ms: at most")
    return figures_table(heads, rows, left=3)


def _lags(trials: list[Document]) -> dict[tuple[str, int, str], list[Document]]:
    lags: dict[tuple[str, int, str], list[Document]] = {}
    for trial in trials:
        for replica in trial.get("replicas", ()):
            lags.setdefault((trial["label"], trial["clients"], replica["replica"]), []).append(replica)
    return lags


def _times(replicas: list[Document], key: str) -> list[float]:
    return [replica[key] for replica in replicas if replica[key] is not None]


def _ms(seconds: float) -> str:
    return three(seconds * 1000)


def _by_label(trials: list[Document]) -> dict[str, list[Document]]:
    return {label: [trial for trial in trials if trial["label"] == label] for label in {t["label"]: 0 for t in trials}}


def events(figures: Figures, run: Document) -> str:
    """Return each event beside the load: how long it took, and what it cost; means with 95 % intervals."""
    heads = ("", "Event", "Took, s", "Throughput meanwhile", "After it", "p99 meanwhile, ms", "Without service, s")
    rows = [(event["label"], event["name"], *_event(event["figures"])) for event in run["events"]]
    return figures_table((*heads, "Back after, s"), rows, left=2)


def _event(figures: Document) -> tuple[str, ...]:
    changes = tuple(_interval(figures[key], _change) for key in ("during_change", "after_change"))
    others = ("during_p99_ms", "without_service_s", "recovered_s")
    return (_interval(figures["duration_s"], three), *changes, *(_interval(figures[key], three) for key in others))


def _interval(figure: Document | None, form: Callable[[float], str]) -> str:
    if figure is None:
        return "–"
    mean, *ends = (form(figure[key]).replace("-", "−") for key in ("mean", "low", "high") if figure[key] is not None)
    return f"{mean} [{' to '.join(ends)}]" if set(ends) - {mean} else mean


def _change(share: float) -> str:
    return f"{share:+.0%}"


def disturbances(run: Document) -> list[str]:
    """Say what each event cost, from its means; empty if the run has none."""
    return [
        f"{code(event['label'])}, {event['name']}: {_interval(of['duration_s'], three)} s, "
        f"throughput {_interval(of['during_change'], _change)} meanwhile, "
        f"{_interval(of['without_service_s'], three)} s without service."
        for event in run.get("events") or ()
        for of in (event["figures"],)
    ]
