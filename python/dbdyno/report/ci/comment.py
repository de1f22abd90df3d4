"""The decisions on a pull request as a Markdown comment: the answer, the table, and what changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape as html_escaped

from dbdyno.report.ci.decisions import FEW, NOT_JUDGED, Decided, reasons_of, row_of, sentence
from dbdyno.report.markdown import code, escaped, table
from dbdyno.report.why.why import is_cause
from dbdyno.report.why.why import sentence as evidence_sentence
from dbdyno.stats.comparison import FASTER, SLOWER
from dbdyno.stats.sequential import SAME, UNSTABLE

MARKS = {SLOWER: "🔴", FASTER: "🟢", SAME: "⚪", UNSTABLE: "🟡", NOT_JUDGED: "🟡"}
_HEADINGS = ("experiment", "load", "base/s", "head/s", "difference [95 %]", "pairs", "outcome")


def comment(all_decided: Sequence[Decided], margin: float, sides: tuple[str, str], host: Sequence[str]) -> str:
    """Return the comment, GitHub-flavoured Markdown that ends with a newline.

    Args:
        sides: base and head in words.
        host: what disturbs measurements on this host, a sentence each.
    """
    blocks = [
        f"### dbdyno: {escaped(sentence(all_decided, margin))}",
        f"base {code(sides[0])}, head {code(sides[1])}",
        table(_HEADINGS, [_row(decided) for decided in all_decided]),
        *_why(all_decided),
    ]
    careful = [f"{which}: {reason}" for which, reason in reasons_of(all_decided)]
    careful += [f"This host: {what}" for what in host]
    blocks.append("\n".join(f"- {escaped(text)}" for text in careful))
    return "\n\n".join(filter(None, blocks)) + "\n"


def _row(decided: Decided) -> list[str]:
    *cells, outcome = row_of(decided)
    return [*map(escaped, cells), f"{MARKS[outcome]} {outcome}"]


def _why(all_decided: Sequence[Decided]) -> Iterator[str]:
    """Yield what changed in each difference, folded."""
    for decided in all_decided:
        if decided.outcome in (SLOWER, FASTER):
            # Within a block of HTML nothing is Markdown.
            words = f"Why {decided.named_workload} at {decided.compared.cell.load} is {decided.outcome}".split()
            title = html_escaped(" ".join(words))
            causes = [evidence for evidence in decided.evidence if is_cause(evidence)]
            effects = [evidence for evidence in decided.evidence if not is_cause(evidence)]
            lines = [f"- {escaped(evidence_sentence(each))}" for each in (*causes[:FEW], *effects[:FEW])]
            listed = "\n".join(lines) or "No observation explains it."
            yield f"<details><summary>{title}</summary>\n\n{listed}\n\n</details>"
