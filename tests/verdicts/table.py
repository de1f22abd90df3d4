"""The page about all cases: their totals and a table, as Markdown."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from statistics import median

from .case import Case, Load, Variant, accepted
from .grade import Grade, Verdict, groups, totals

HEAD = """\
# Known causes and their verdicts

`make test-verdicts` injects known causes into real servers and compares dbdyno's verdicts with them. It writes this
page. The cases are in `tests/verdicts/cases`. The rules: [statistics.md](statistics.md#5-what-limited-a-trial).

Each case has a control: the same load without the cause. A control that blames a resource nobody touched is wrong.
*Pinned*: client and server have one processor each. *Unpinned*: they share all processors.
"""
SETS = """
Some cases were used to write the rules. The *held out* ones only check them.

| cases | verdicts | right | unknown | wrong, confidence low | wrong, confidence medium or high |
|---|---:|---:|---:|---:|---:|
"""
TABLE = """
A cause may have several right verdicts. *Throughput* is the median, as a multiple of the control's. A verdict that is
neither right nor unknown is marked **wrong**.

| injected | cases | variant | right | said | confidence | throughput | control said |
|---|---|---|---|---|---|---:|---|
"""


def document(verdicts: list[Verdict], left_out: Mapping[str, str]) -> str:
    """Return the page. left_out: the cases that this host could not run, and why."""
    host = f"This host has {os.cpu_count()} processors.\n"
    sets = "".join(_totals_row(group, members) for group, members in groups(verdicts).items())
    rows = "".join(_rows(verdicts))
    return HEAD + host + SETS + sets + TABLE + rows + _left_out(left_out)


def _totals_row(group: str, members: list[Verdict]) -> str:
    counted = totals(members)
    return f"| {group} | {len(members)} | " + " | ".join(str(counted[grade]) for grade in Grade) + " |\n"


def _rows(verdicts: list[Verdict]) -> Iterator[str]:
    cells: dict[tuple[Load | Case, Variant], list[Verdict]] = {}
    for verdict in verdicts:
        cells.setdefault((verdict.scenario, verdict.variant), []).append(verdict)
    for (scenario, variant), members in cells.items():
        if isinstance(scenario, Case):
            yield _row(scenario, variant, members, cells.get((scenario.load, variant), []))


def _row(case: Case, variant: Variant, members: list[Verdict], controls: list[Verdict]) -> str:
    share = f"{_middle(members) / _middle(controls):.2f}×" if controls and _middle(controls) else ""
    columns = (
        case.what,
        "held out" if case.held_out else "written with",
        variant.value,
        " or ".join(sorted(accepted(case, variant))),
        _limits(members),
        _counted(verdict.confidence for verdict in members),
        share,
        _limits(controls),
    )
    return "| " + " | ".join(columns) + " |\n"


def _middle(verdicts: list[Verdict]) -> float:
    return median(verdict.throughput_per_s for verdict in verdicts)


def _limits(verdicts: list[Verdict]) -> str:
    wrong = (Grade.WRONG, Grade.WRONG_LOW)
    return _counted(f"**wrong:** {verdict.limit}" if verdict.grade in wrong else verdict.limit for verdict in verdicts)


def _counted(words) -> str:
    """Return each word once, with how often it stands there if they differ."""
    counted = Counter(words)
    return ", ".join(f"{word} ({count}×)" if len(counted) > 1 else word for word, count in counted.most_common())


def _left_out(left_out: Mapping[str, str]) -> str:
    if not left_out:
        return ""
    return "\nLeft out on this host:\n\n" + "".join(f"- {name}: {reason}\n" for name, reason in left_out.items())
