"""A comparison seen from its other side, and what limited a trial, for every table that ranks systems."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dbdyno.report.core import words
from dbdyno.verdict.limits import CLIENT, noun_of

if TYPE_CHECKING:
    from dbdyno.report.core.documents import CellDocument, RatioDocument
    from dbdyno.report.core.trial_documents import TrialDocument

TURNED = {"faster": "slower", "slower": "faster"}


def turned(cell: CellDocument, around: bool) -> RatioDocument:
    """Return a comparison's ratio, interval and verdict, with its sides exchanged if `around`."""
    ratio, low, high = cell["ratio"], cell["low"], cell["high"]
    verdict = cell["verdict"]
    if around:
        low, high = (None if bound is None else 1 / bound for bound in (high, low))
        ratio, verdict = None if ratio is None else 1 / ratio, TURNED.get(verdict, verdict)
    return {
        "ratio": ratio,
        "low": low,
        "high": high,
        "verdict": verdict,
        "pairs": cell["pairs"],
        "margin": cell["margin"],
        "noise": cell["noise"],
        "reason": cell["reason"],
        "p_holm": cell["p_holm"],
        "least": cell["least"],
    }


def limit_of(trial: TrialDocument) -> str:
    """Return the noun of what limited a trial."""
    if verdict := trial.get("verdict"):
        return noun_of(verdict.limit, bool(trial.get("embedded")))
    return noun_of(CLIENT) if trial["client_limited"] else words.NOT_SEEN
