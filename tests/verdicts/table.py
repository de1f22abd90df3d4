"""The page about all cases: how many verdicts are right, those that are not, and every case, as Markdown."""

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping
from statistics import median

from .case import Case, Load, Variant, accepted
from .grade import LEAST_RIGHT, Grade, Verdict, groups, totals
from .kept import Kept

REPEATS = 3
"""How often each case should run."""
WRONG = (Grade.WRONG, Grade.WRONG_LOW)
HEAD = """\
# Known causes and their verdicts

How far can you trust what dbdyno says limited a store? `make test-verdicts` injects known causes into real servers,
compares the verdicts with them, and writes this page.

"""
SETS = """
| verdicts on | all | right | unknown | wrong, confidence low | wrong, confidence medium or high |
|---|---:|---:|---:|---:|---:|
"""
READING = """
- *Development* cases were used to write the rules. No rule was written with a *held-out* case: these only check.
- A *control* is the load of a case without its cause. A control that blames a resource nobody touched is wrong.
- *Right* is a limit that the cause may show as; some causes have several. *Unknown* is the verdict "limit unknown": it
  is honest, and no help.
- *Pinned*: client and server have one processor each. *Unpinned*: they share all processors. A cause that changes
  nothing on one processor runs unpinned only.
- Before each run the command waits until other programs use at most a tenth of the processors. It says so if they do
  not.

The cases are in `tests/verdicts/cases`, the rules in [statistics](statistics.md#5-what-limited-a-trial).
"""
TABLE = """
## Every case

*Throughput* is the median, as a multiple of the control's. A wrong verdict is marked **wrong**.

| injected | set | variant | right | said | confidence | throughput | control said |
|---|---|---|---|---|---|---:|---|
"""


def document(kept: Kept) -> str:
    """Return the page."""
    verdicts = list(kept.verdicts.values())
    sets = "".join(_totals_row(group, members) for group, members in groups(verdicts).items())
    parts = [
        HEAD,
        _answer(verdicts),
        SETS,
        sets,
        "\n",
        _repeats(verdicts, kept.processors),
        READING,
        *_not_right(verdicts),
        TABLE,
    ]
    parts += [*_rows(verdicts), *_listed("Left out on this host", kept.left_out), *_listed("Failed", kept.failed)]
    return "".join(parts)


def _answer(verdicts: list[Verdict]) -> str:
    """Say how many verdicts on cases are right, unknown and wrong, and how many should be."""
    by_group = groups(verdicts)
    lines = []
    for group in ("development", "held-out"):
        members = by_group[group]
        counted = totals(members)
        of = f"{counted[Grade.RIGHT]} of {len(members)} verdicts on {group} cases are right"
        share = f" ({counted[Grade.RIGHT] / len(members):.0%})" if members else ""
        lines.append(
            f"**{of}**{share}, {counted[Grade.UNKNOWN]} unknown, {sum(counted[grade] for grade in WRONG)} wrong."
        )
    counted = totals(verdicts)
    sure = f"{counted[Grade.WRONG]} of all {len(verdicts)} are wrong with confidence medium or high"
    goal = f"Wanted: {LEAST_RIGHT:.0%} of the cases right, and none so wrong."
    return "\n".join([*lines, _wrapped(f"With the controls, {sure}. {goal}")]) + "\n"


def _repeats(verdicts: list[Verdict], processors: int) -> str:
    """Say how often the cases ran, on how many processors, and when."""
    often = Counter((verdict.scenario, verdict.variant) for verdict in verdicts).values()
    least, most = min(often, default=0), max(often, default=0)
    times = f"{least}" if least == most else f"{least} to {most}"
    few = f" The target is {REPEATS}: a verdict that changes from run to run may not show here." * (least < REPEATS)
    cases = len({verdict.scenario for verdict in verdicts if isinstance(verdict.scenario, Case)})
    once = "once" if times == "1" else f"{times} times"
    causes = f"{cases} cause{'' if cases == 1 else 's'}"
    taken = ", ".join(dict.fromkeys(verdict.taken for verdict in verdicts if verdict.taken))
    when = f" Taken on {taken}." * bool(taken)
    return _wrapped(f"{causes} ran {once} in each variant, on {processors} processors.{when}{few}") + "\n"


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(text, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _totals_row(group: str, members: list[Verdict]) -> str:
    counted = totals(members)
    return f"| {group} | {len(members)} | " + " | ".join(str(counted[grade]) for grade in Grade) + " |\n"


def _not_right(verdicts: list[Verdict]) -> Iterator[str]:
    """Yield every wrong verdict with what it said, and every unknown one."""
    for title, grades in (("Wrong verdicts", WRONG), ("Unknown", (Grade.UNKNOWN,))):
        members = [verdict for verdict in verdicts if verdict.grade in grades]
        if members:
            yield f"\n## {title}\n\n"
        for verdict in members:
            scenario = verdict.scenario
            what = scenario.what if isinstance(scenario, Case) else f"control `{scenario.name}`, nothing injected"
            right = " or ".join(sorted(accepted(scenario, verdict.variant)))
            yield _wrapped(f"- {what} ({verdict.variant.value}, right: {right}): {verdict.sentence}", "  ") + "\n"


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
        "held-out" if case.held_out else "development",
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
    return _counted(f"**wrong:** {verdict.limit}" if verdict.grade in WRONG else verdict.limit for verdict in verdicts)


def _counted(words) -> str:
    """Return each word once, with how often it stands there if they differ."""
    counted = Counter(words)
    return ", ".join(f"{word} ({count}×)" if len(counted) > 1 else word for word, count in counted.most_common())


def _listed(title: str, reasons: Mapping[str, str]) -> Iterator[str]:
    if reasons:
        yield f"\n{title}:\n\n"
        yield from (f"- {name}: {reason}\n" for name, reason in reasons.items())
