"""The table of limits in docs/what-limited-it.md: every limit that a verdict can name, and what to try."""

from scripts.reference.markdown import table

from dbdyno.verdict.limits import LIMITS, Limit


def limits_table() -> str:
    """Return the table."""
    rows = ((limit.label, f"`{name}`", _where(limit), limit.advice) for name, limit in LIMITS.items())
    return table(("Limit", "In JSON", "The operations were", "Try"), rows)


def _where(limit: Limit) -> str:
    return limit.held or "done at the requested rate"
