"""Blocks of runs whose trials are no loads, from kept summaries: scans of a table, crashes, and the lag of replicas."""

from collections.abc import Iterator, Mapping
from statistics import median
from typing import Any

from scripts.figures.declared import Figures
from scripts.figures.form import figures_table, three

Document = Mapping[str, Any]


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
    return figures_table(heads, list(_crashed(run)), left=3)


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
            )


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
