"""The table of analytic workloads: a row for each query, columns for each store; scans as time per column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import median
from typing import TYPE_CHECKING

from rich.console import Console

from dbdyno.later import LaterModule
from dbdyno.report.core.looks import Look, bar_marker, looks
from dbdyno.report.core.named_workload import named_workload
from dbdyno.report.core.section import Part, Section
from dbdyno.report.core.terminal import Column, print_columns, say
from dbdyno.report.core.words import significant
from dbdyno.results.json_types import HOT_RUNS
from dbdyno.verdict.limits import label_of

if TYPE_CHECKING:
    import html
    from collections.abc import Callable
    from typing import TypeAlias

    from dbdyno.report.core.page import Page
    from dbdyno.report.core.plots import Figure
    from dbdyno.report.core.series import Series
    from dbdyno.report.core.trial_documents import TrialDocument
    from dbdyno.results.conclusions import Verdict
    from dbdyno.results.json_types import AnalysisStated, LoadedStated, QueryStated, UnansweredStated

    _Time: TypeAlias = Callable[[TrialDocument], float]
else:
    html = LaterModule("html")

TIMES = ("cold", "best", "median")
CELL_WIDTH = 10
"""Characters that a time takes at most, with the space around it."""


def analysed(trials: Iterable[TrialDocument]) -> list[TrialDocument]:
    """Return the trials of an analytic workload that reached a query, repetitions of one as one."""
    repetitions: dict[str, list[TrialDocument]] = {}
    for trial in trials:
        if (analysis := trial.get("analysis")) and analysis.get("queries"):
            repetitions.setdefault(name(trial), []).append(trial)
    return [as_one(several) for several in repetitions.values()]


def as_one(repetitions: Sequence[TrialDocument]) -> TrialDocument:
    """Return repetitions as one trial: of the load and of each cold query the median, of hot queries all times.

    What limited a query is that of most repetitions. It is complete if all are.
    """
    first, *others = repetitions
    if not others:
        return first
    states = [trial["state"] for trial in repetitions if trial["state"] != "complete"]
    return {
        **first,
        "state": states[0] if states else "complete",
        "loaded": _median_load(repetitions),
        "analysis": {
            **analysis_of(first),
            "queries": [_query_as_one(query, repetitions) for query in _queries(repetitions, unanswered=False)],
            "unanswered": [query for trial in repetitions for query in _unanswered(trial)],
        },
        "query_verdicts": _frequent_verdicts(repetitions),
    }


def _median_load(repetitions: Sequence[TrialDocument]) -> LoadedStated:
    loads = sorted((_loaded(trial) for trial in repetitions), key=lambda loaded: loaded["seconds"])
    return loads[len(loads) // 2]


def _query_as_one(name: str, repetitions: Sequence[TrialDocument]) -> QueryStated:
    asked = [query for trial in repetitions for query in analysis_of(trial)["queries"] if query["name"] == name]
    return {
        **asked[0],
        "cold_s": median(query["cold_s"] for query in asked),
        "hot_s": [seconds for query in asked for seconds in query["hot_s"]],
        "differs": next((query["differs"] for query in asked if query["differs"]), None),
    }


def _frequent_verdicts(repetitions: Sequence[TrialDocument]) -> dict[str, Verdict]:
    """Return for each query the first verdict that names the limit of most repetitions."""
    verdicts: dict[str, list[Verdict]] = {}
    for trial in repetitions:
        for query, verdict in (trial.get("query_verdicts") or {}).items():
            verdicts.setdefault(query, []).append(verdict)
    return {query: _frequent(several) for query, several in verdicts.items()}


def _frequent(verdicts: Sequence[Verdict]) -> Verdict:
    ((limit, _),) = Counter(verdict.limit for verdict in verdicts).most_common(1)
    return next(verdict for verdict in verdicts if verdict.limit == limit)


def analysis_of(trial: TrialDocument) -> AnalysisStated:
    """Return the queries of a trial that `analysed` named."""
    analysis = trial["analysis"]
    assert analysis is not None, "only trials with queries come here them"
    return analysis


def _loaded(trial: TrialDocument) -> LoadedStated:
    loaded = trial["loaded"]
    assert loaded is not None, "queries are asked of a table that was loaded"
    return loaded


def print_analyses(trials: list[TrialDocument], console: Console, notes: bool = True) -> None:
    """Print how long each query took, cold and hot, and where answers differ.

    notes: also say how the table was loaded, and what a cold query is.
    """
    if is_scans(trials):
        headings, *rows = scans(trials)
        _print_table(headings, rows, console)
    else:
        at_once = max(1, console.width // (len(TIMES) * CELL_WIDTH))
        for begin in range(0, len(trials), at_once):
            _print_times(trials[begin : begin + at_once], console)
        for trial in trials if notes else ():
            say(console, loading(trial), indent=2, hang=2)
    for said in filter(None, map(limits, trials)) if notes else ():
        say(console, said, indent=2, hang=2)
    if notes:
        say(console, how_asked(trials), "dim", indent=2)
    console.print()
    say(console, answers(trials), indent=2)


def how_asked(trials: Sequence[TrialDocument]) -> str:
    """Return what cold meant, by store if it differs, and how often each query was asked hot."""
    labels: dict[str, list[str]] = {}
    for trial in trials:
        labels.setdefault(analysis_of(trial)["cold"], []).append(name(trial))
    cold = [how if len(labels) == 1 else f"{', '.join(of_how)}: {how}" for how, of_how in labels.items()]
    anew = ", in each repetition" if _repetitions(trials) > 1 else ""
    return f"Cold: {'; '.join(cold)}; then three times hot{anew}."


def _print_times(trials: list[TrialDocument], console: Console) -> None:
    headings = ["s", *(f"{name(trial)}\n{what}" if what == TIMES[0] else what for trial in trials for what in TIMES)]
    _print_table(headings, times(trials), console)


def _print_table(headings: Sequence[str], rows: Sequence[Sequence[str]], console: Console) -> None:
    cells = zip(*rows, strict=True)
    columns = [
        Column(heading, column, left=index == 0 or rows[0][index][:1].isalpha())
        for index, (heading, column) in enumerate(zip(headings, cells, strict=True))
    ]
    print_columns(columns, console)


def times(trials: Sequence[TrialDocument]) -> list[list[str]]:
    """Return a row for each query: its name, and of each trial the times cold, best and median, in seconds."""
    return [[query, *(cell for trial in trials for cell in _cells(trial, query))] for query in _queries(trials)]


def name(trial: TrialDocument) -> str:
    """Return a trial's system, and its variant of the workload if it has one."""
    return " ".join(filter(None, (trial["label"], _variant(trial))))


def _variant(trial: TrialDocument) -> str:
    """Return the values of the options that name a variant of a workload."""
    options = named_workload(trial["workload"]).options
    return " ".join(f"{key} {value}" if value.isdigit() else value for key, value in options.items())


def is_scans(trials: Sequence[TrialDocument]) -> bool:
    """Return whether the queries are whole scans that differ in how many columns they read."""
    return all(query.get("columns") for trial in trials for query in analysis_of(trial)["queries"])


def scans(trials: Sequence[TrialDocument]) -> list[list[str]]:
    """Return headings, then a row for each trial: its size, rows a second by query, hot, and the time per column.

    The time per column is that of the query that reads most columns, over the rows and the columns it reads.
    """
    queries = _queries(trials)
    speeds = ["loaded\nrows/s", *(f"{query}\nM rows/s" for query in queries)]
    headings = ["system", "table", "bytes\na row", *speeds, "ns a\ncolumn"]
    return [headings, *(_scan(trial, queries) for trial in trials)]


def _scan(trial: TrialDocument, queries: list[str]) -> list[str]:
    loaded, asked = _loaded(trial), {query["name"]: query for query in analysis_of(trial)["queries"]}
    speeds = [_millions(loaded["rows"] / min(asked[query]["hot_s"])) if query in asked else "–" for query in queries]
    size = f"{loaded['size_bytes'] / max(loaded['rows'], 1):.0f}"
    return [trial["label"], _variant(trial), size, f"{loaded['rows_per_s']:,.0f}", *speeds, f"{column_ns(trial):,.1f}"]


def _millions(per_s: float) -> str:
    return f"{per_s / 1e6:,.0f}" if per_s >= 1e8 else f"{per_s / 1e6:.3g}"


def column_ns(trial: TrialDocument) -> float:
    """Return the nanoseconds a column of a row takes in the query that reads most columns, hot, at best."""
    # In a table of one column the queries tie, and the last one is the query that reads all columns.
    query = max(reversed(analysis_of(trial)["queries"]), key=_columns)
    return min(query["hot_s"]) * 1e9 / max(_loaded(trial)["rows"], 1) / _columns(query)


def _columns(query: QueryStated) -> int:
    return query.get("columns") or 0


def figures(all_series: Sequence[Series]) -> dict[str, Figure]:
    """Return the plot of an analytic run, by its name: times of queries, or times per column; empty for another run."""
    pairs = [(series, trial) for series in all_series for trial in analysed(series.trials)]
    if not pairs:
        return {}
    axis = {"type": "log", "dtick": 1, "ticksuffix": " s", "exponentformat": "none"}
    if not is_scans([trial for _, trial in pairs]):
        data = [
            _bars(series, trial, list(medians), list(medians.values()), series.index, series.look)
            for series, trial in pairs
            for medians in (_medians(trial),)
        ]
        return {"queries": {"data": data, "layout": {"barmode": "group", "yaxis": axis}}}
    index_of = {label: index for index, label in enumerate(dict.fromkeys(trial["label"] for _, trial in pairs))}
    hue_of = {trial["label"]: series.look.hue for series, trial in pairs}
    of_labels = looks([hue_of[label] for label in index_of])
    data = [
        _bars(series, trial, [_variant(trial)], [column_ns(trial)], index, of_labels[index])
        for series, trial in pairs
        for index in (index_of[trial["label"]],)
    ]
    for index, bars in enumerate(data):
        bars["showlegend"] = bars["offsetgroup"] not in {earlier["offsetgroup"] for earlier in data[:index]}
    return {"scans": {"data": data, "layout": {"barmode": "group", "yaxis": axis | {"ticksuffix": " ns"}}}}


def _medians(trial: TrialDocument) -> dict[str, float]:
    return {query["name"]: median(query["hot_s"]) for query in analysis_of(trial)["queries"]}


def _bars(series: Series, trial: TrialDocument, x: Sequence[str], y: Sequence[float], index: int, look: Look) -> Figure:
    return {
        "type": "bar",
        "x": list(x),
        "y": list(y),
        "name": html.escape(trial["label"]),
        "offsetgroup": str(index),
        "marker": bar_marker(look),
        "meta": {"s": series.index, "c": 0},
        "hovertemplate": f"{html.escape(name(trial))}: %{{y:.4g}}",
    }


def loading(trial: TrialDocument) -> str:
    """Return how the table was loaded into a store, how fast, and its size there."""
    loaded = _loaded(trial)
    rows, size = loaded["rows"], loaded["size_bytes"]
    return (
        f"{name(trial)}: {rows:,} rows loaded in {loaded['seconds']:,.1f} s ({loaded['rows_per_s']:,.0f} rows/s) by "
        f"{loaded['by']}; {size / 1e6:,.1f} MB on disk, {size / max(rows, 1):.0f} bytes a row"
    )


def limits(trial: TrialDocument) -> str | None:
    """Return what limited the hot queries of a store, by limit; `None` if the observations say it of none."""
    verdicts = trial.get("query_verdicts") or {}
    if not verdicts:
        return None
    by_limit: dict[str, list[str]] = {}
    for query, verdict in verdicts.items():
        by_limit.setdefault(label_of(verdict.limit, bool(trial["embedded"])), []).append(query)
    others = [query["name"] for query in analysis_of(trial)["queries"] if query["name"] not in verdicts]
    unknown = [f"unknown: {', '.join(others)}"] if others else []
    said = "; ".join([*(f"{limit}: {', '.join(queries)}" for limit, queries in by_limit.items()), *unknown])
    return f"{name(trial)}, hot queries limited by {said}"


def answers(trials: list[TrialDocument]) -> str:
    """Return whether all stores gave the same answers, and where they differ."""
    differing = [
        f"{name(trial)}, {query['name']}: {query['differs']}"
        for trial in trials
        for query in analysis_of(trial)["queries"]
        if query["differs"]
    ]
    missing = [f"{name(trial)}, {query['name']}: {query['reason']}" for trial in trials for query in _unanswered(trial)]
    lacking = f" Without an answer: {'; '.join(missing)}." if missing else ""
    if differing:
        return f"Answers DIFFER: {'; '.join(differing)}{'.' if lacking else ''}{lacking}"
    several = len({trial["label"] for trial in trials}) > 1
    said = "All stores gave the same answers." if several else "Every answer was the same each time."
    return said + lacking


def sentence(trials: Sequence[TrialDocument]) -> str:
    """Return how long each store took for all queries, or for a column of a scan: an observation, no ranking."""
    right = [trial for trial in trials if not any(query["differs"] for query in analysis_of(trial)["queries"])]
    whole = [trial for trial in right if trial["state"] == "complete"]
    if not whole:
        return "No store answered every query as the others did, so there is no figure to name."
    what = "Time per column, hot, if every column is read"
    if not is_scans(whole):
        what = f"All {len(_queries(whole))} queries, hot"
    said = ", ".join(f"{whose} {spent}" for whose, spent in _spent(whole).items())
    repetitions = _repetitions(whole)
    once = "This is one observation" if repetitions == 1 else f"These are of {repetitions} repetitions each"
    return f"{what}: {said}. {once}, not a ranking."


def _repetitions(trials: Sequence[TrialDocument]) -> int:
    """Return the fewest repetitions that any query had."""
    return min(len(query["hot_s"]) for trial in trials for query in analysis_of(trial)["queries"]) // HOT_RUNS


def by_store(trials: Sequence[TrialDocument]) -> list[str]:
    """Return a sentence for each store with what `sentence` says of it."""
    what = "a column, if every column is read" if is_scans(trials) else f"for all {len(_queries(trials))} queries"
    ranges = {} if is_scans(trials) else {name(trial): _fastest_to_slowest(trial) for trial in trials}
    return [f"{whose}: {spent}{ranges.get(whose, '')} {what}, hot." for whose, spent in _spent(trials).items()]


def _fastest_to_slowest(trial: TrialDocument) -> str:
    """Return the sums of the shortest and of the longest time of each query, hot, in brackets."""
    times_s = [query["hot_s"] for query in analysis_of(trial)["queries"]]
    shortest, longest = (significant(sum(map(end, times_s))) for end in (min, max))
    return f" ({shortest} to {longest})"


def _spent(trials: Sequence[TrialDocument]) -> dict[str, str]:
    """Return the time of each store for all queries, or for a column of a scan, the fastest first."""
    by_name: dict[str, list[float]] = {}
    for trial in trials:
        if is_scans(trials):
            by_name.setdefault(trial["label"], []).append(column_ns(trial))
        else:
            by_name[name(trial)] = [sum(_medians(trial).values())]
    unit = "ns" if is_scans(trials) else "s"
    ordered = sorted(by_name.items(), key=lambda item: min(item[1]))
    ranges = {whose: dict.fromkeys((significant(min(spent)), significant(max(spent)))) for whose, spent in ordered}
    return {whose: f"{' to '.join(both)} {unit}" for whose, both in ranges.items()}


def _queries(trials: Sequence[TrialDocument], unanswered: bool = True) -> list[str]:
    """Return the names of all queries, in the order in which they are asked.

    unanswered: also of those that have no answer.
    """
    answered = sorted(([query["name"] for query in analysis_of(trial)["queries"]] for trial in trials), key=len)
    names = dict.fromkeys(name for queries in reversed(answered) for name in queries)
    without = (query["name"] for trial in trials for query in _unanswered(trial)) if unanswered else ()
    return list(names | dict.fromkeys(without))


def _unanswered(trial: TrialDocument) -> Sequence[UnansweredStated]:
    return analysis_of(trial).get("unanswered", ())


def _cells(trial: TrialDocument, name: str) -> list[str]:
    for query in analysis_of(trial)["queries"]:
        if query["name"] == name:
            return [f"{seconds:.3f}" for seconds in (query["cold_s"], min(query["hot_s"]), median(query["hot_s"]))]
    if any(query["name"] == name for query in _unanswered(trial)):
        return ["no answer", *[""] * (len(TIMES) - 1)]
    return ["–"] * len(TIMES)


def part(page: Page) -> Part | None:
    """Return the plot and the table of queries, or of scans."""
    trials = analysed(page.document["trials"])
    if not (trials and page.series):
        return None
    plots = figures(page.series)
    scanned = "scans" in plots
    headings, *lines = scans(trials) if scanned else [[], *times(trials)]
    module = {
        "answers": answers(trials),
        "how_asked": how_asked(trials),
        "TIMES": TIMES,
        "name": name,
        "loading": loading,
        "limits": limits,
    }
    content = {"analysed": trials, "scanned": scanned, "headings": headings, "rows": lines}
    return Part(content | module, plots)


SECTION = Section(
    "analyses.html.j2",
    part,
    {
        "queries": "Queries, hot: the median of three",
        "scans": "Time per column of a row if every column is read, hot, at best",
    },
)
