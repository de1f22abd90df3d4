"""The form of the figures of pages: how numbers and tables are written."""

from scripts.reference.markdown import code, table


def three(value: float) -> str:
    """Return three significant digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def figures_table(head: tuple[str, ...], rows: list[tuple[str, ...]], left: int) -> str:
    """Return a table whose columns after the first `left` are aligned right."""
    lines = table(head, [(code(row[0]), *row[1:]) for row in rows]).splitlines()
    lines[1] = "|" + "|".join(["---"] * left + ["---:"] * (len(head) - left)) + "|"
    return "\n".join(lines)
