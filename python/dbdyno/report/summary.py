"""The end of a run on one screen: the answer, a table, cautions, and where the rest is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from dbdyno.report.answer import answer
from dbdyno.report.cautions import cautions
from dbdyno.report.core import words
from dbdyno.report.core.loads import Load, is_open, load_of, loads, share_of, time_name, times_us
from dbdyno.report.core.names import short_names
from dbdyno.report.core.terminal import Column, print_columns, print_command, say, shortened, wrapped
from dbdyno.report.details import print_specific
from dbdyno.report.document import document
from dbdyno.report.sections import capacity, events
from dbdyno.report.sections.client_groups import print_client_groups
from dbdyno.report.sections.connection_memory import print_costs
from dbdyno.report.sections.kinds import kinds_of
from dbdyno.results.rivals import base_of
from dbdyno.verdict.limits import label_of

if TYPE_CHECKING:
    from dbdyno.report.core.documents import RunDocument
    from dbdyno.report.core.times import TimeName
    from dbdyno.report.core.trial_documents import TrialDocument
    from dbdyno.results.conclusions import NextStep
    from dbdyno.results.model import Run

INDENT = 2
MOST_CAUTIONS, MOST_CAUTION_LINES = 3, 4
"""Cautions are printed whole, the most serious first, until either is reached."""
_STATES = {"failed": "FAILED", "interrupted": "CUT"}
_GIVE_UP_LOADS, _GIVE_UP_SHARES, _GIVE_UP_KINDS, _GIVE_UP_P99 = 100, 60, 40, 20
"""The order in which a narrow terminal drops columns: loads in between go first."""


@dataclass(frozen=True, slots=True)
class Places:
    """The places of the rest of a run.

    Attributes:
        run: its name for `dbdyno show`.
        report: its report, or `None` if it has none.
        resume: the command that runs the trials it lacks, or `None`.
    """

    run: str
    report: str | None
    resume: str | None = None


def print_summary(run: Run, places: Places, console: Console) -> None:
    """Print the summary of a run."""
    print_document_summary(document(run, timelines=False), places, console)


def print_document_summary(run_document: RunDocument, places: Places, console: Console) -> None:
    """Print the summary of what `dbdyno.report.document.document` returned."""
    say(console, _title(run_document), hang=INDENT)
    console.print()
    specific = print_specific(run_document, console, notes=False)
    specific = print_costs(run_document["connection_memory"], console, INDENT) or specific
    if not specific and (groups := words.groups(run_document)):
        print_columns(_columns(groups, run_document), console, INDENT)
        _print_client_groups(groups.values(), console)
    if events.disturbed(run_document):
        console.print()
        events.print_events(run_document, console, notes=False)
    console.print()
    _print_answer(answer(run_document), console)
    _print_cautions(run_document, places, console)
    console.print()
    if places.resume:
        _print_command("go on", places.resume, console)
    if places.report:
        _print_place("report", places.report, console)
    _print_command("details", f"dbdyno show {places.run} --details", console)
    if not specific and any(trial.get("verdict") for trial in run_document["trials"]):
        _print_command("limits", f"dbdyno explain {places.run}", console)
    for step in _next_steps(run_document)[:1]:
        _print_command("next", step.command, console)
        say(console, step.why, "dim", INDENT + 9)


def _print_client_groups(groups: Iterable[Sequence[TrialDocument]], console: Console) -> None:
    """Print the groups of clients of each row's best trial, if there are any."""
    best = [trial for group in groups if (trial := _best(group)) and trial.get("client_groups")]
    if best:
        console.print()
        print_client_groups(best, console, INDENT)


def _print_answer(paragraphs: Sequence[Sequence[str]], console: Console) -> None:
    """Print the sentences of each paragraph, as many to a line as fit whole; the first of all in bold."""
    for index, paragraph in enumerate(paragraphs):
        lines: list[Text] = []
        for sentence in paragraph:
            if lines and cell_len(f"{lines[-1].plain} {sentence}") <= console.width - INDENT:
                lines[-1].append(f" {sentence}")
            else:
                lines.append(Text(sentence))
        if not index:
            lines[0].stylize("bold", 0, len(paragraph[0]))
        for line in lines:
            say(console, line, indent=INDENT)


def _print_place(name: str, where: str, console: Console) -> None:
    console.print(_margin(name).append(where), soft_wrap=True)


def _print_command(name: str, command: str, console: Console) -> None:
    print_command(command, console, _margin(name))


def _margin(name: str) -> Text:
    return Text(" " * INDENT).append(f"{name:<9}", "dim")


def _next_steps(run_document: RunDocument) -> list[NextStep]:
    """Return what to try next, by the verdict on the leader's trial.

    Nothing after a search, which tried the rates, or if connections were idle.
    """
    if run_document["find_rate"] or run_document["connection_memory"]:
        return []
    headline = run_document["headline"]
    name = headline["trials"].get(headline["leader"] or "")
    verdicts = [trial.get("verdict") for trial in run_document["trials"] if trial["trial"] == name]
    return [step for verdict in verdicts if verdict for step in verdict.next]


def _print_cautions(run_document: RunDocument, places: Places, console: Console) -> None:
    """Print the cautions that fit whole, and the command for the others. The first may be cut: a server said it."""
    every, room, width = cautions(run_document), MOST_CAUTION_LINES, console.width - INDENT
    left = len(every)
    for sentence, style in every[:MOST_CAUTIONS]:
        lines = len(wrapped(sentence, width))
        if lines > room and left < len(every):
            break
        say(console, shortened(sentence, width, room), style, INDENT)
        room -= lines
        left -= 1
    if left or room < 0:
        say(console, f"{f'{left} more' if left else 'in full'}: dbdyno show {places.run} --details", "yellow", INDENT)


def _title(run_document: RunDocument) -> Text:
    trials = [trial for trial in run_document["trials"] if trial["system"] is not None]
    # The steps of a search have a rate each.
    searched = bool(run_document["find_rate"])
    measured = [trial for trial in trials if share_of(trial) is None and not (searched and trial["rate"])]
    variants = len({tuple(trial.get("variant", {}).items()) for trial in trials})
    bases = {base_of(trial["label"], trial.get("variant", {})) for trial in trials}
    parts = [
        _counted(len(bases), "system"),
        *([_counted(variants, "variant")] if variants > 1 else []),
        _counted(len(loads(measured)), "load"),
        _counted(max((trial["repeat"] or 1 for trial in trials), default=1), "repeat"),
    ]
    crossed = " × ".join(part for part in parts if not part.startswith("1 r"))
    complete = sum(trial["state"] == "complete" for trial in run_document["trials"])
    of = f"{complete} of " if complete < len(run_document["trials"]) else ""
    said = [crossed, of + _counted(len(run_document["trials"]), "trial"), *_duration(run_document)]
    name = str(run_document["experiment"] or run_document["run"])
    return Text(name, style="bold").append(f" — {', '.join(said)}", "not bold")


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _duration(run_document: RunDocument) -> Iterator[str]:
    begun_s, ended_s = run_document["started_unix_s"], run_document["ended_unix_s"]
    if begun_s and ended_s:
        # Between its sessions a resumed run did nothing.
        sessions = run_document.get("sessions", ())
        earlier, last = sessions[:-1], sessions[-1:]
        before_s = sum(session["ended_unix_s"] - (session["started_unix_s"] or 0.0) for session in earlier)
        begun_s = next((session["started_unix_s"] for session in last), None) or begun_s
        yield words.duration(before_s + ended_s - begun_s)
        if earlier:
            yield f"resumed {'once' if len(earlier) == 1 else f'{len(earlier)} times'}"


def _columns(groups: Mapping[tuple[str, str | None], list[TrialDocument]], run_document: RunDocument) -> list[Column]:
    """Return the table of a run whose clients loaded systems, the highest throughput first."""
    trials = [trial for group in groups.values() for trial in group]
    workloads = list(dict.fromkeys(workload for _, workload in groups))
    rows = sorted(groups.items(), key=lambda row: (workloads.index(row[0][1]), -_rate(_best(row[1]))))
    best = [_best(group) for _, group in rows]
    keys = [key for key, _ in rows]
    durability = Column("", [str(trial["durability"] or "") if trial else "" for trial in best], left=True)
    if searches := run_document["find_rate"]:
        figure = f"rate/s with {searches[0]['limit']}"
        return [Column(figure, _names(keys), left=True, style="bold"), durability, *_found_rates(keys, run_document)]
    name, limits = time_name(trials), Column("limited by", [_limit(trial) for trial in best], left=True)
    unit, length_us = words.one_unit(times_us(trial["transaction"], name)["p99"] for trial in trials)
    timed = is_open(trials)
    figure = f"p99, {unit}" if timed else "transactions/s"
    columns = [Column(figure, _names(keys), left=True, style="bold"), durability]
    columns += _load_columns([group for _, group in rows], name if timed else None, length_us)
    columns += _kind_columns(best) + _share_columns(keys, run_document)
    if not timed:
        p99s = [times_us(trial["transaction"], name)["p99"] if trial else None for trial in best]
        columns.append(Column("p99 at best", list(map(words.length, p99s)), _GIVE_UP_P99))
    return [*columns, limits]


def _names(keys: Sequence[tuple[str, str | None]]) -> list[str]:
    """Return the names of the rows: the systems, the workloads, or both if both differ."""
    labels, _ = short_names([label for label, _ in keys])
    variants = words.short_workloads([str(workload) for _, workload in keys])
    if len(set(variants)) == 1:
        return labels
    if len(set(labels)) == 1:
        return variants
    return [f"{label} · {variant}" for label, variant in zip(labels, variants, strict=True)]


def _rate(trial: TrialDocument | None) -> float:
    return float(trial["throughput_per_s"] or 0.0) if trial else 0.0


def _best(trials: Sequence[TrialDocument]) -> TrialDocument | None:
    """Return a system's trial at the load with its highest throughput."""
    standing = [trial for load in loads(trials) if (trial := _middle(trials, load)) and trial["state"] == "complete"]
    return max(standing, key=_rate, default=None)


def _middle(trials: Sequence[TrialDocument], load: Load) -> TrialDocument | None:
    """Return the trial of median throughput at a load; one that is not complete only if there is no other."""
    at_load = [trial for trial in trials if load_of(trial) == load]
    complete = sorted((trial for trial in at_load if trial["state"] == "complete"), key=_rate)
    return complete[(len(complete) - 1) // 2] if complete else next(iter(at_load), None)


def _load_columns(groups: Sequence[Sequence[TrialDocument]], time: TimeName | None, length_us: float) -> list[Column]:
    """Return a column for each load: throughput, or p99 if `time` names the time that is shown."""
    every = loads(trial for group in groups for trial in group)
    several_clients = len({load.clients for load in every}) > 1
    peaks = {load_of(best) for group in groups if (best := _best(group))}
    between = [load for load in every[1:-1] if load not in peaks]
    # Every second load goes first, so the remaining loads are spread evenly.
    order = [*(load for load in every[1:-1] if load in peaks), *between[1::2], *between[::2]]
    columns = []
    for index, load in enumerate(every):
        cells = [_cell(_middle(group, load), time, length_us) for group in groups]
        heading = load.label(several_clients)
        if not index and not load.words:
            heading = _counted(load.clients, "client")
        drop = _GIVE_UP_LOADS + order.index(load) if load in order else None
        columns.append(Column(heading, cells, drop))
    return columns


def _cell(trial: TrialDocument | None, time: TimeName | None, length_us: float) -> str:
    if trial is None or trial["state"] != "complete":
        return _STATES.get(trial["state"], words.UNKNOWN) if trial else ""
    if not time:
        return ("≥" if trial["client_limited"] else "") + words.significant(trial["throughput_per_s"])
    if trial.get("followed") is False:
        return "behind"
    p99_us = times_us(trial["transaction"], time)["p99"]
    return words.significant(None if p99_us is None else p99_us / length_us)


def _found_rates(keys: Sequence[tuple[str, str | None]], run_document: RunDocument) -> list[Column]:
    """Return a column for each number of clients: the highest rate that held the limit."""
    first = {trial["trial"]: trial for trial in run_document["trials"]}
    searches = [(first[search["first"]], search) for search in run_document["find_rate"] if search["first"] in first]
    rates = {
        (words.label_of(trial), trial["workload"], search["clients"]): search["found_rate_per_s"]
        for trial, search in searches
    }
    counts = sorted({clients for *_, clients in rates})
    return [
        Column(_counted(count, "client"), [words.whole(rates.get((*key, count))) for key in keys]) for count in counts
    ]


def _kind_columns(best: Sequence[TrialDocument | None]) -> list[Column]:
    """Return how many transactions of the first kind there were a minute, if there are several kinds."""
    kinds = [kinds_of(trial) if trial else {} for trial in best]
    first = next((next(iter(by_name)) for by_name in kinds if by_name), None)
    if first is None:
        return []
    cells = [words.whole(by_name[first]["per_minute"]) if first in by_name else words.UNKNOWN for by_name in kinds]
    return [Column(f"{first}/min", cells, _GIVE_UP_KINDS)]


def _share_columns(keys: Sequence[tuple[str, str | None]], run_document: RunDocument) -> list[Column]:
    """Return the p99 of response times at shares of capacity, if the run has these."""
    p99s = capacity.p99s(run_document)
    shares = sorted({share for by_share in p99s.values() for share in by_share})
    by_row = [p99s.get((label, str(workload)), {}) for label, workload in keys]
    return [
        Column(f"p99 at {share:.0%}", [by_share.get(share, words.UNKNOWN) for by_share in by_row], _GIVE_UP_SHARES)
        for share in shares
    ]


def _limit(trial: TrialDocument | None) -> str:
    """Return what limited a trial, in a word or two; with `?` if the confidence is low."""
    if not trial or not (verdict := trial.get("verdict")):
        return words.UNKNOWN
    label = label_of(verdict.limit, bool(trial.get("embedded")))
    return label if verdict.confidence != "low" or label == "unknown" else f"{label}?"
