"""The table `dbdyno run` ends with and `dbdyno show` prints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

from rich.align import VerticalAlignMethod
from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from dbdyno.report.core import words
from dbdyno.report.core.loads import Document, is_open, time_label, time_name, times_us
from dbdyno.report.core.steadiness import remarks
from dbdyno.report.document import document
from dbdyno.report.sections import capacity, crashes, locks, replication
from dbdyno.report.sections.analyses import analysed, print_analyses
from dbdyno.report.sections.copies import copied, print_copies
from dbdyno.report.sections.fairness import print_card
from dbdyno.report.sections.hosts import host_in_words, worsened
from dbdyno.report.sections.kinds import kinds_of, print_kinds
from dbdyno.report.sections.libraries import understated
from dbdyno.results.model import Run
from dbdyno.verdict.limits import label_of

_STATES = {"complete": "ok", "failed": "FAILED", "interrupted": "CUT", "not reached": "–"}
_STYLES = {"complete": "", "failed": "bold red", "interrupted": "yellow"}
_GIVE_UP_FIRST = ("p95", "reads\nverified", "server\nCPU µs", "client\nCPU µs", "steady", "max", "limit")
"""Columns left out, in this order, where the terminal is too narrow for all."""

_FLOOR = "Floor: the 1st percentile of the seconds, of their median."


@dataclass(frozen=True, slots=True)
class _Column:
    heading: str
    cell: Callable[[Document], str]


def print_table(run: Run, console: Console) -> None:
    """Print the run: a block of rows per system, what went wrong, and what may be said of it."""
    print_document(document(run, timelines=False), console)


def print_document(shown: Document, console: Console) -> None:
    """Print what `dbdyno.report.document.document` returned."""
    grouped = words.groups(shown)
    trials = [trial for group in grouped.values() for trial in group]
    asked, copies, killed = analysed(shown), copied(shown), crashes.crashed(shown)
    if asked:
        print_analyses(asked, console)
    elif copies:
        print_copies(copies, console)
    elif killed:
        _print_crashes(killed, console)
    elif trials:
        _print_trials(shown, grouped, trials, console)
    _print_remarks(shown, console)
    _print_end(shown, console, not (asked or copies or killed), bool(asked or copies))


def _print_trials(
    shown: Document, grouped: dict[tuple[str, str | None], list[Document]], trials: list[Document], console: Console
) -> None:
    """Print a row for each trial of clients, and what its columns are."""
    columns = _columns(trials)
    widths = [_width(column, trials) for column in columns]
    left_out = _left_out(columns, widths, console.width)
    kept = [pair for pair in zip(columns, widths, strict=True) if pair[0].heading not in left_out]
    console.print(_rows(kept, [], heading=True))
    for (label, workload), group in grouped.items():
        _print_group(label, workload, group, kept, console)
    print_kinds(trials, console)
    _print_blocks(shown, console)
    _say(console, f"Latencies: {time_label(trials)}. CPU µs: per transaction. {_FLOOR}", "dim")
    if sentence := words.observing(shown):
        _say(console, sentence, "dim")
    if sentence := host_in_words(shown["environment"].get("measured")):
        _say(console, sentence, "dim")
    for line in worsened(shown["environment"].get("measured"), shown["environment"].get("measured_after")):
        _say(console, f"The host was worse after the run: {line}.", "yellow")
    if left_out:
        names = ", ".join(heading.replace("\n", " ") for heading in left_out)
        _say(console, f"Too narrow for: {names}.", "dim")


def _print_end(shown: Document, console: Console, is_load: bool, has_sentence: bool) -> None:
    """Print what may be said of it; of what no clients loaded there are no limits."""
    if is_load:
        _print_conclusions(shown, console)
        return
    print_card(shown["fairness"], console)
    if has_sentence:
        _say(console, shown["headline"]["sentence"], "bold")


def _columns(trials: list[Document]) -> list[_Column]:
    unit, length_us = words.latency_unit(trials)
    name = time_name(trials)

    def latency(key: str) -> Callable[[Document], str]:
        def cell(trial: Document) -> str:
            time_us = times_us(trial["transaction"], name)[key]
            return words.significant(None if time_us is None else time_us / length_us)

        return cell

    steady = [_Column("steady\nstate", words.steady_state)] if words.long_enough(trials) else []
    warm = [_Column("95% warm\nafter s", _warm)] if any(trial.get("warm_up") for trial in trials) else []
    repeat = [_Column("repeat", lambda trial: str(trial["repeat"]))] if any(_repeats(trials)) else []
    rows = [_Column("rows\nper s", _rows_read)] if any(map(_reads_several, trials)) else []
    conflicts = [_Column("con-\nflicts", _conflicts)] if any(trial.get("conflicts") for trial in trials) else []
    return [
        _Column("clients", lambda trial: str(trial["clients"])),
        *repeat,
        *([_Column("offered\nper s", _offered)] if is_open(trials) else []),
        *_left_over(trials),
        _Column("per s", _throughput),
        *rows,
        *warm,
        _Column("floor", lambda trial: words.percent(trial["stability"]["floor"])),
        _Column("stall\ns", lambda trial: words.whole(trial["stability"]["longest_without_completion_s"])),
        *(_Column(f"{key}\n{unit}", latency(key)) for key in ("p50", "p95", "p99", "max")),
        _Column("errors", lambda trial: words.short_count(trial["errors"])),
        *conflicts,
        _Column("client\nCPU µs", lambda trial: words.significant(trial["client_cpu_us_per_transaction"])),
        _Column("server\nCPU µs", lambda trial: words.significant(trial["server_cpu_us_per_transaction"])),
        _Column("reads\nverified", _verified),
        *steady,
        _Column("limit", lambda trial: label_of(trial["verdict"]["limit"]) if trial.get("verdict") else words.UNKNOWN),
        _Column("state", lambda trial: _STATES.get(trial["state"], str(trial["state"]))),
    ]


def _left_over(trials: list[Document]) -> list[_Column]:
    """Arrivals of an open loop that began late, or had not ended, where there were any."""

    def column(heading: str, key: str) -> list[_Column]:
        if not any(trial.get(key) for trial in trials):
            return []
        return [_Column(heading, lambda trial: _count(trial.get(key)))]

    return column("late", "late") + column("un-\nfinished", "unfinished")


def _count(value: int | None) -> str:
    return words.UNKNOWN if value is None else words.short_count(value)


def _conflicts(trial: Document) -> str:
    return words.short_count(trial.get("conflicts", 0))


def _repeats(trials: list[Document]) -> list[bool]:
    return [(trial["repeat"] or 1) > 1 for trial in trials]


def _offered(trial: Document) -> str:
    return words.whole(trial.get("offered_per_s"))


def _reads_several(trial: Document) -> bool:
    """Whether a request reads several rows; of transactions of several kinds nobody asks."""
    if kinds_of(trial):
        return False
    answered_per_s = sum(operation["count"] for operation in trial["operations"].values()) / (trial["seconds"] or 1)
    return bool((trial["rows_read_per_s"] or 0) > 1.01 * answered_per_s)


def _rows_read(trial: Document) -> str:
    return words.whole(trial["rows_read_per_s"])


def _warm(trial: Document) -> str:
    """After how many seconds of load it was warm; `>` where it still rose when the trial ended."""
    found = trial.get("warm_up")
    if found is None:
        return words.UNKNOWN
    return f"> {words.whole(trial['seconds'])}" if found["seconds"] is None else words.whole(found["seconds"])


def _throughput(trial: Document) -> str:
    return ("≥ " if trial["client_limited"] else "") + words.significant(trial["throughput_per_s"])


def _verified(trial: Document) -> str:
    if trial["mismatches"]:
        return f"{words.short_count(trial['mismatches'])} WRONG"
    return words.short_count(trial["reads_verified"])


def _width(column: _Column, trials: list[Document]) -> int:
    return max(*map(len, column.heading.split("\n")), *(len(column.cell(trial)) for trial in trials))


def _left_out(columns: list[_Column], widths: list[int], available: int) -> list[str]:
    by_heading = {column.heading: width + 2 for column, width in zip(columns, widths, strict=True)}
    left_out: list[str] = []
    for name in _GIVE_UP_FIRST:
        if sum(by_heading.values()) <= available:
            break
        for heading in [heading for heading in by_heading if heading.startswith(name)]:
            del by_heading[heading]
            left_out.append(heading)
    return left_out


def _rows(columns: list[tuple[_Column, int]], trials: list[Document], heading: bool) -> Table:
    """A borderless block whose columns stand where every other block's do."""
    block = Table(box=None, show_header=heading, header_style="dim", padding=(0, 0, 0, 2))
    for column, width in columns:
        block.add_column(Text(column.heading), justify="right", vertical="bottom", width=width, no_wrap=True)
    for trial in trials:
        cells = [Text(column.cell(trial)) for column, _ in columns]
        block.add_row(*cells, style=_STYLES.get(trial["state"], ""))
    return block


def _print_group(
    label: str, workload: str | None, trials: list[Document], columns: list[tuple[_Column, int]], console: Console
) -> None:
    title = Text(label, style="bold")
    title.append(f"  {workload}", style="dim")
    for durability in dict.fromkeys((trial["durability"], trial["durability_reason"]) for trial in trials):
        if durability[0]:
            title.append(f"  {durability[0]}", style="cyan")
            title.append(f" ({durability[1]})" if durability[1] else "", style="dim")
    console.print(title, overflow="ellipsis", no_wrap=True)
    console.print(_rows(columns, trials, heading=False))


def _print_crashes(trials: list[Document], console: Console) -> None:
    _print_block(crashes.HEADINGS, crashes.rows(trials), crashes.NOTE, console)
    if held := crashes.agreement_rows(trials):
        _print_block(crashes.AGREEMENT_HEADINGS, held, crashes.AGREEMENT_NOTE, console)
    for sentence in crashes.sentences(trials):
        _say(console, sentence, "")


def _print_blocks(shown: Document, console: Console) -> None:
    if below := capacity.at_shares(shown):
        _print_block(capacity.HEADINGS, capacity.rows(below), capacity.NOTE, console)
    if elsewhere := replication.replicated(shown):
        _print_block(replication.HEADINGS, replication.rows(elsewhere), replication.NOTE, console)
    if locked := locks.shown_trials(shown):
        _print_block(locks.HEADINGS, locks.rows(locked), locks.NOTE, console, locks.LEFT)


def _print_block(
    headings: Sequence[str], rows: list[list[str]], note: str, console: Console, left: Sequence[int] = (0,)
) -> None:
    """Print what one kind of experiment is about, and what its columns are.

    Where names leave the other columns too little room, each stands above its rows; what is too long even then goes on
    in its own column's next line, if that is a last one of words.

    Args:
        left: the places of columns of words.
    """
    columns = zip(headings, *rows, strict=True)
    first, *others = [max(len(line) for cell in column for line in cell.split("\n")) + 2 for column in columns]
    widths: list[int | None] = [width - 2 for width in others]
    if len(others) in left and sum(others) > console.width:
        widths[-1] = None
        others.pop()
    if (first + sum(others) <= console.width and None not in widths) or sum(others) > console.width:
        console.print(_block(headings, rows, [None] * len(headings), left))
    else:
        within = [place - 1 for place in left]
        console.print(_block(headings[1:], [], widths, within))
        for label, group in groupby(rows, lambda row: row[0]):
            _say(console, label, "bold")
            console.print(_block(headings[1:], [row[1:] for row in group], widths, within, heading=False))
    _say(console, note, "dim")


def _block(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    widths: Sequence[int | None],
    left: Sequence[int],
    heading: bool = True,
) -> Table:
    block = Table(box=None, show_header=heading, header_style="dim", padding=(0, 0, 0, 2))
    vertical: VerticalAlignMethod = "bottom" if heading else "top"
    for place, (text, width) in enumerate(zip(headings, widths, strict=True)):
        justify: JustifyMethod = "left" if place in left else "right"
        block.add_column(
            Text(text), justify=justify, vertical=vertical, width=width, no_wrap=width is not None, overflow="fold"
        )
    for row in rows:
        block.add_row(*map(Text, row))
    return block


def _print_remarks(shown: Document, console: Console) -> None:
    console.print()
    for name, what in words.not_complete(shown):
        _say(console, f"{name}: {what}", "red" if what.startswith("failed") else "yellow")
    for name, warning in words.warnings_by_text(shown):
        _say(console, f"{name}: {warning}", "yellow")
    said = (words.client_limited(shown), words.run_state(shown), words.durability_caution(shown))
    for sentence in filter(None, (*_steadiness(shown), *said)):
        _say(console, sentence, "yellow")


def _steadiness(shown: Document) -> list[str]:
    """What the column of the steady state says, which gives way where the terminal is narrow; queries have none."""
    is_load = not (analysed(shown) or copied(shown) or crashes.crashed(shown))
    return list(remarks([trial for trial in shown["trials"] if trial["system"] is not None])) if is_load else []


def _print_conclusions(shown: Document, console: Console) -> None:
    sweeps = [f"{one['label']}, {one['workload']}: {one['words']}" for one in shown["scalability"] if one["law"]]
    for line in filter(None, (words.automatic_warmup(shown), *sweeps)):
        _say(console, line, "")
    print_card(shown["fairness"], console)
    for line in filter(None, (shown["headline"]["sentence"], capacity.sentence(shown))):
        _say(console, line, "bold")
    sentences = [f"{name}: {sentence}" for name, sentence in words.limit_sentences(shown)]
    for line in filter(
        None, (*(sentences or [words.limits(shown["headline"])]), *words.cached(shown), *understated(shown))
    ):
        _say(console, line, "")


def _say(console: Console, line: str, style: str) -> None:
    """Print a line that may hold anything a server said, brackets that look like mark-up among it."""
    console.print(Text(line, style=style))
