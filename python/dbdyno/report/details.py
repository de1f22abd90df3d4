"""The details of a run for a terminal, in sections, as `dbdyno show --details` prints them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rich.console import Console

from dbdyno.report.cautions import cautions
from dbdyno.report.core import words
from dbdyno.report.core.loads import is_open, time_label, time_name, times_us
from dbdyno.report.core.terminal import Column, heading, print_columns, print_command, say
from dbdyno.report.document import document
from dbdyno.report.sections import capacity, crashes, events, locks, replica_lag, replication
from dbdyno.report.sections.analyses import analysed, print_analyses
from dbdyno.report.sections.client_groups import print_client_groups
from dbdyno.report.sections.connection_memory import print_costs
from dbdyno.report.sections.copies import copied, print_copies
from dbdyno.report.sections.fairness import print_card
from dbdyno.report.sections.hosts import host_in_words, worsened
from dbdyno.report.sections.kinds import kinds_of, print_kinds
from dbdyno.report.sections.libraries import understated
from dbdyno.verdict.limits import label_of

if TYPE_CHECKING:
    from dbdyno.report.core.documents import RunDocument
    from dbdyno.report.core.trial_documents import TrialDocument
    from dbdyno.results.model import Run

_STATES = {"complete": "ok", "failed": "FAILED", "interrupted": "CUT", "not reached": "–"}
_STYLES = {"complete": "", "failed": "bold red", "interrupted": "yellow"}
_GIVE_UP_FIRST = ("p95", "reads\nverified", "server\nCPU µs", "client\nCPU µs", "steady", "max", "limit")
"""Columns that a narrow terminal leaves out, in this order."""

_MARKS_OF_SUMMARY = ("≥:", "behind:")
"""Cautions that begin like this explain marks in the table of the summary."""
_FLOOR = "Floor: the 1st percentile of the seconds, of their median."


@dataclass(frozen=True, slots=True)
class _Figure:
    heading: str
    cell: Callable[[TrialDocument], str]


def print_details(run: Run, console: Console) -> None:
    """Print everything about the run, section by section."""
    print_document(document(run, timelines=False), console)


def print_document(run_document: RunDocument, console: Console) -> None:
    """Print what `dbdyno.report.document.document` returned."""
    say(console, run_document["headline"]["sentence"], "bold")
    if below := capacity.sentence(run_document):
        say(console, below, "bold")
    heading(console, "Trials")
    grouped = words.groups(run_document)
    if not print_specific(run_document, console, notes=True) and grouped:
        _print_trials(grouped, console)
    _print_blocks(run_document, console)
    _print_lines("What limited each system", _limits(run_document), console)
    _print_lines("Scaling and warm-up", _scaling(run_document), console)
    _print_lines("Cache", words.cached(run_document), console)
    _print_lines("Client libraries", list(understated(run_document)), console)
    _print_lines("Be careful", list(_remarks(run_document)), console)
    _print_lines("Host and observation", list(_host(run_document)), console)
    heading(console, "Fairness")
    print_card(run_document["fairness"], console)
    if command := run_document["fairness"]["command"]:
        heading(console, "Repeat it")
        print_command(command, console)


def print_specific(run_document: RunDocument, console: Console, notes: bool) -> bool:
    """Print the table of a run of queries, copies or crashes. Returns whether it is one.

    notes: also explain its columns, and say how each trial went.
    """
    trials = run_document["trials"]
    asked, copies, killed = analysed(trials), copied(trials), crashes.crashed(trials)
    if asked:
        print_analyses(asked, console, notes)
    elif copies:
        print_copies(copies, console, notes)
    elif killed:
        _print_crashes(killed, console, notes)
    return bool(asked or copies or killed)


def _print_lines(title: str, lines: Sequence[str], console: Console) -> None:
    if lines:
        heading(console, title)
    for line in lines:
        say(console, line, hang=2)


def _print_trials(grouped: dict[tuple[str, str | None], list[TrialDocument]], console: Console) -> None:
    """Print a row for each trial of clients, and explain its columns."""
    trials = [trial for group in grouped.values() for trial in group]
    titles = [_title(label, workload, group) for (label, workload), group in grouped.items() for _ in group]
    figures = _figures(trials)
    columns = [Column(figure.heading, list(map(figure.cell, trials)), _drop(figure.heading)) for figure in figures]
    styles = [_STYLES.get(trial["state"], "") for trial in trials]
    print_columns([Column("", titles, left=True, style="bold"), *columns], console, 0, styles, titled=True)
    say(console, f"Latencies: {time_label(trials)}. CPU µs: per transaction. {_FLOOR}", "dim")
    if any(trial.get("client_groups") for trial in trials):
        heading(console, "Groups of clients")
        print_client_groups(trials, console)
    if any(map(kinds_of, trials)):
        heading(console, "Transactions by kind")
        print_kinds(trials, console)


def _drop(name: str) -> int | None:
    for index, beginning in enumerate(_GIVE_UP_FIRST):
        if name.startswith(beginning):
            return len(_GIVE_UP_FIRST) - index
    return None


def _title(label: str, workload: str | None, trials: Sequence[TrialDocument]) -> str:
    classes = dict.fromkeys((trial["durability"], trial["durability_reason"]) for trial in trials)
    named = [f"{level} ({reason})" if reason else str(level) for level, reason in classes if level]
    return "  ".join(filter(None, (label, workload, *named)))


def _figures(trials: list[TrialDocument]) -> list[_Figure]:
    unit, length_us = words.latency_unit(trials)
    name = time_name(trials)

    def latency(key: str) -> Callable[[TrialDocument], str]:
        def cell(trial: TrialDocument) -> str:
            time_us = times_us(trial["transaction"], name)[key]
            return words.significant(None if time_us is None else time_us / length_us)

        return cell

    steady = [_Figure("steady\nstate", words.steady_state)] if words.long_enough(trials) else []
    warm = [_Figure("95% warm\nafter s", _warm)] if any(trial.get("warm_up") for trial in trials) else []
    repeat = [_Figure("repeat", lambda trial: str(trial["repeat"]))] if any(_repeats(trials)) else []
    rows = [_Figure("rows\nper s", _rows_read)] if any(map(_reads_several, trials)) else []
    conflicts = [_Figure("con-\nflicts", _conflicts)] if any(trial.get("conflicts") for trial in trials) else []
    return [
        _Figure("clients", lambda trial: str(trial["clients"])),
        *repeat,
        *([_Figure("offered\nper s", _offered)] if is_open(trials) else []),
        *_left_over(trials),
        _Figure("per s", _throughput),
        *rows,
        *warm,
        _Figure("floor", lambda trial: words.percent(trial["stability"]["floor"])),
        _Figure("longest\nstall", lambda trial: words.longest_stall(trial["stability"])),
        *(_Figure(f"{key}\n{unit}", latency(key)) for key in ("p50", "p95", "p99", "max")),
        _Figure("errors", lambda trial: words.short_count(trial["errors"])),
        *conflicts,
        _Figure("client\nCPU µs", lambda trial: words.significant(trial["client_cpu_us_per_transaction"])),
        _Figure("server\nCPU µs", lambda trial: words.significant(trial["server_cpu_us_per_transaction"])),
        _Figure("reads\nverified", _verified),
        *steady,
        _Figure("limit", _limit),
        _Figure("state", lambda trial: _STATES.get(trial["state"], str(trial["state"]))),
    ]


def _limit(trial: TrialDocument) -> str:
    if verdict := trial.get("verdict"):
        return label_of(verdict.limit, bool(trial.get("embedded")))
    return words.UNKNOWN


def _left_over(trials: list[TrialDocument]) -> list[_Figure]:
    """Return columns for arrivals of an open loop that began late or did not end, if there were any."""

    def column(heading: str, key: Literal["late", "unfinished"]) -> list[_Figure]:
        if not any(trial.get(key) for trial in trials):
            return []
        return [_Figure(heading, lambda trial: _count(trial.get(key)))]

    return column("late", "late") + column("un-\nfinished", "unfinished")


def _count(value: int | None) -> str:
    return words.UNKNOWN if value is None else words.short_count(value)


def _conflicts(trial: TrialDocument) -> str:
    return words.short_count(trial.get("conflicts", 0))


def _repeats(trials: list[TrialDocument]) -> list[bool]:
    return [(trial["repeat"] or 1) > 1 for trial in trials]


def _offered(trial: TrialDocument) -> str:
    return words.whole(trial.get("offered_per_s"))


def _reads_several(trial: TrialDocument) -> bool:
    """Return whether a request reads several rows; false for transactions of several kinds."""
    if kinds_of(trial):
        return False
    answered_per_s = sum(operation["count"] for operation in trial["operations"].values()) / (trial["seconds"] or 1)
    return bool((trial["rows_read_per_s"] or 0) > 1.01 * answered_per_s)


def _rows_read(trial: TrialDocument) -> str:
    return words.whole(trial["rows_read_per_s"])


def _warm(trial: TrialDocument) -> str:
    """Return the seconds of load until the store was warm; `>` if throughput still rose at the end of the trial."""
    warm_up = trial.get("warm_up")
    if warm_up is None:
        return words.UNKNOWN
    return f"> {words.whole(trial['seconds'])}" if warm_up["seconds"] is None else words.whole(warm_up["seconds"])


def _throughput(trial: TrialDocument) -> str:
    return ("≥ " if trial["client_limited"] else "") + words.significant(trial["throughput_per_s"])


def _verified(trial: TrialDocument) -> str:
    if trial["mismatches"]:
        return f"{words.short_count(trial['mismatches'])} WRONG"
    return words.short_count(trial["reads_verified"])


def _print_crashes(trials: list[TrialDocument], console: Console, notes: bool) -> None:
    _print_block(crashes.HEADINGS, crashes.rows(trials), crashes.NOTE if notes else "", console)
    if held := crashes.agreement_rows(trials):
        _print_block(crashes.AGREEMENT_HEADINGS, held, crashes.AGREEMENT_NOTE if notes else "", console)
    for sentence in crashes.sentences(trials) if notes else ():
        say(console, sentence, indent=2, hang=2)


def _print_blocks(run_document: RunDocument, console: Console) -> None:
    if below := capacity.at_shares(run_document):
        heading(console, "Latency below capacity")
        _print_block(capacity.HEADINGS, capacity.rows(below), capacity.NOTE, console)
    if events.disturbed(run_document):
        heading(console, "Events")
        events.print_events(run_document, console, notes=True)
    if elsewhere := replication.replicated(run_document):
        heading(console, "Seen at another node")
        _print_block(replication.HEADINGS, replication.rows(elsewhere), replication.NOTE, console)
    if costs := run_document["connection_memory"]:
        heading(console, "Memory for each connection")
        print_costs(costs, console)
    if behind := replica_lag.followed(run_document):
        heading(console, "Lag of replicas")
        _print_block(replica_lag.HEADINGS, replica_lag.rows(behind), replica_lag.NOTE, console, replica_lag.LEFT)
    if locked := locks.shown_trials(run_document):
        heading(console, "Locks waited for")
        _print_block(locks.HEADINGS, locks.rows(locked), locks.NOTE, console, locks.LEFT)


def _print_block(
    headings: Sequence[str], rows: list[list[str]], note: str, console: Console, left: Sequence[int] = (0,)
) -> None:
    """Print the table of one kind of experiment, and a note about its columns.

    Args:
        left: indices of the columns of words.
    """
    columns = zip(headings, zip(*rows, strict=True), strict=True)
    print_columns([Column(name, cells, left=index in left) for index, (name, cells) in enumerate(columns)], console)
    if note:
        say(console, note, "dim", indent=2)


def _is_specific(trials: Sequence[TrialDocument]) -> bool:
    """Return whether the trials are queries, copies or crashes."""
    return bool(analysed(trials) or copied(trials) or crashes.crashed(trials))


def _remarks(run_document: RunDocument) -> Iterator[str]:
    """Yield every caution of the run once, with those that the summary shows as marks or leaves to other sentences."""
    yield from dict.fromkeys(
        (
            *(sentence for sentence, _ in cautions(run_document) if not sentence.startswith(_MARKS_OF_SUMMARY)),
            *(f"{name}: {what}" for name, what in words.not_complete(run_document) if not what.startswith("skipped")),
            *(f"{name}: {warning}" for name, warning in words.warnings_by_text(run_document)),
            *filter(None, (words.client_limited(run_document), words.durability_caution(run_document))),
        )
    )


def _host(run_document: RunDocument) -> Iterator[str]:
    host = host_in_words(run_document["environment"].get("measured"))
    yield from filter(None, (words.observing_cost(run_document), host))
    environment = run_document["environment"]
    if worse := "; ".join(worsened(environment.get("measured"), environment.get("measured_after"))):
        yield f"Slower after the run: {worse}."
    yield from (f"Not observed: {line}" for line in words.not_observed(run_document["fairness"]["not_seen"]))


def _scaling(run_document: RunDocument) -> list[str]:
    fitted = [sweep for sweep in run_document["scalability"] if sweep["law"]]
    sentences = [f"{sweep['label']}, {sweep['workload']}: {sweep['words']}" for sweep in fitted]
    return [*filter(None, [words.automatic_warmup(run_document)]), *sentences]


def _limits(run_document: RunDocument) -> list[str]:
    if _is_specific(run_document["trials"]):
        return []
    sentences = [f"{name}: {sentence}" for name, sentence in words.limit_sentences(run_document)]
    return sentences or [*filter(None, [words.limits(run_document["headline"]["limits"])])]
