"""A comparison seen from its other side, and what limited a trial, for every table that ranks systems."""

from __future__ import annotations

from typing import Any

from dbdyno.report.core import words
from dbdyno.report.core.loads import Document
from dbdyno.verdict.limits import CLIENT, noun_of

TURNED = {"faster": "slower", "slower": "faster"}


def turned(cell: Document, around: bool) -> dict[str, Any]:
    """Return a comparison's ratio, interval and verdict, with its sides exchanged if `around`."""
    ratio, low, high = (cell[key] for key in ("ratio", "low", "high"))
    verdict = cell["verdict"]
    if around:
        low, high = (None if bound is None else 1 / bound for bound in (high, low))
        ratio, verdict = None if ratio is None else 1 / ratio, TURNED.get(verdict, verdict)
    return {"ratio": ratio, "low": low, "high": high, "verdict": verdict} | {
        key: cell[key] for key in ("pairs", "margin", "noise", "reason", "p_holm", "least")
    }


def limit_of(trial: Document) -> str:
    """Return the noun of what limited a trial."""
    if verdict := trial.get("verdict"):
        return noun_of(verdict["limit"], bool(trial.get("embedded")))
    return noun_of(CLIENT) if trial["client_limited"] else words.NOT_SEEN
