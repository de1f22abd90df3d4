"""The limits that a verdict can name, in docs/what-limited-it.md and docs/statistics.md."""

import textwrap

from scripts.reference.markdown import WIDTH, table

from dbdyno.verdict.limits import LIMITS, Limit


def limits_table() -> str:
    """Return the table."""
    rows = ((limit.label, f"`{name}`", _where(limit), limit.advice) for name, limit in LIMITS.items())
    return table(("Limit", "In JSON", "The operations were", "Try"), rows)


def rules() -> str:
    """Return the rule of each limit inside the storage engine, as a list."""
    # No line begins with the sign of a percentage.
    lines = (f"- **{name}**: {limit.rule}".replace(" %", "\0%") for name, limit in LIMITS.items() if limit.rule)
    wrapped = (textwrap.fill(line, WIDTH, subsequent_indent="  ", break_on_hyphens=False) for line in lines)
    return "\n".join(wrapped).replace("\0", " ")


def _where(limit: Limit) -> str:
    return limit.held or "done at the requested rate"
