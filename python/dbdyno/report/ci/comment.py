"""The decisions on a pull request as a Markdown comment: the answer, the table, and what changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dbdyno.report.ci.decisions import FEW, NOT_JUDGED, Decided, row_of, sentence
from dbdyno.report.markdown import code, escaped, table
from dbdyno.report.why.why import sentence as evidence_sentence
from dbdyno.stats.comparison import FASTER, SLOWER
from dbdyno.stats.sequential import SAME, UNSTABLE

MARKS = {SLOWER: "🔴", FASTER: "🟢", SAME: "⚪", UNSTABLE: "🟡", NOT_JUDGED: "🟡"}
_HEADINGS = ("experiment", "load", "base/s", "head/s", "difference [95 %]", "pairs", "outcome")


def comment(found: Sequence[Decided], margin: float, sides: tuple[str, str], host: Sequence[str]) -> str:
    """Return the comment, GitHub-flavoured Markdown that ends with a newline.

    Args:
        sides: what base and head are.
        host: what of this host spoils a measurement, a sentence each.
    """
    blocks = [
        f"### dbdyno: {escaped(sentence(found, margin))}",
        f"base {code(sides[0])}, head {code(sides[1])}",
        table(_HEADINGS, [_row(one) for one in found]),
        *_why(found),
    ]
    careful = [f"{one.experiment}, {one.compared.cell.load}: {one.reason}" for one in found if one.reason]
    careful += [f"This host: {what}" for what in host]
    blocks.append("\n".join(f"- {escaped(text)}" for text in careful))
    return "\n\n".join(filter(None, blocks)) + "\n"


def _row(one: Decided) -> list[str]:
    *cells, outcome = row_of(one)
    return [*map(escaped, cells), f"{MARKS[outcome]} {outcome}"]


def _why(found: Sequence[Decided]) -> Iterator[str]:
    """What changed in each difference, folded."""
    for one in found:
        if one.outcome in (SLOWER, FASTER):
            title = escaped(f"Why {one.experiment} at {one.compared.cell.load} is {one.outcome}")
            causes = [evidence for evidence in one.evidence if evidence.share is None]
            effects = [evidence for evidence in one.evidence if evidence.share is not None]
            lines = [f"- {escaped(evidence_sentence(each))}" for each in (*causes[:FEW], *effects[:FEW])]
            listed = "\n".join(lines) or "Nothing that was observed explains it."
            yield f"<details><summary>{title}</summary>\n\n{listed}\n\n</details>"
