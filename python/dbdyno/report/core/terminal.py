"""Tables, lines and commands for a terminal: a column that does not fit is dropped whole and named, no word is cut."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

GAP = 2
LEAST_PROSE = 24
"""The least width of a column of sentences, in characters; with less room the table becomes a list."""
LONG_NAME_SHARE = 0.3
"""A first column wider than this share of the terminal stands above its rows if the table does not fit."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table.

    Attributes:
        heading: in one or several lines.
        cells: a text for each row.
        drop: if the table is too wide, the column with the highest value goes first; `None` is never dropped.
        left: its cells are words, not figures.
        prose: its cells are sentences, which wrap.
        style: the style of its cells, as rich names it.
    """

    heading: str
    cells: Sequence[str]
    drop: int | None = None
    left: bool = False
    prose: bool = False
    style: str = ""

    @property
    def width(self) -> int:
        """The characters it takes if nothing is wrapped."""
        return max(map(cell_len, [*self.heading.split("\n"), *self.cells]), default=0)

    @property
    def least_width(self) -> int:
        """The characters it takes at least."""
        words = [cell_len(word) for cell in self.cells for word in cell.split()]
        return min(self.width, max(LEAST_PROSE, *words)) if self.prose and words else self.width

    def narrowed(self) -> Column:
        """Return it with its heading broken at spaces if that is wider than the cells."""
        if "\n" in self.heading or not self.heading:
            return self
        width = max((cell_len(cell) for cell in self.cells), default=0)
        longest = max(map(cell_len, self.heading.split()))
        return replace(self, heading="\n".join(textwrap.wrap(self.heading, max(width, longest))))


def say(console: Console, text: str | Text, style: str = "", indent: int = 0, hang: int = 0) -> None:
    """Print text that may hold anything a server said, wrapped at spaces; a word that is too long stays whole.

    indent: of every line. hang: further indent of the following lines.
    """
    whole = Text(text, style=style) if isinstance(text, str) else text
    end = 0
    for line in wrapped(whole.plain, console.width - indent, hang):
        words = line.strip()
        begin = whole.plain.index(words, end)
        end = begin + len(words)
        # The space before the words is the margin, the text's own, or the hanging indent.
        margin = " " * (indent + len(line) - len(line.lstrip()))
        console.print(Text(margin).append_text(whole[begin:end]), soft_wrap=True)


def wrapped(text: str, width: int, hang: int = 0) -> list[str]:
    """Return the wrapped lines of a text; its own line breaks stay."""
    lines = []
    for line in text.split("\n"):
        # A line that fits keeps its own spaces: it may be a row of a table.
        lines += [line] if cell_len(line) <= width else _wrap(line, max(width, 1), subsequent_indent=" " * hang)
    return lines


_wrap = partial(
    textwrap.wrap, break_long_words=False, break_on_hyphens=False, expand_tabs=False, replace_whitespace=False
)
"""Breaks a line at spaces, and leaves everything else as it is."""


def shortened(text: str, width: int, most: int = 1) -> str:
    """Return as many words of a text as fit in `most` lines, with an ellipsis if there are more."""
    lines = wrapped(text, width)
    if len(lines) <= most:
        return text
    return " ".join(wrapped(" ".join(lines), width - 2)[:most]) + " …"


def print_command(command: str, console: Console, margin: str | Text = "  ", style: str = "") -> None:
    """Print a command in lines that a shell takes as one when they are copied; the first stands behind `margin`."""
    margin = Text(margin) if isinstance(margin, str) else margin
    lines = list(command_lines(command, console.width - margin.cell_len))
    for index, line in enumerate(lines):
        before = Text(" " * margin.cell_len) if index else margin.copy()
        console.print(before.append(line, style), soft_wrap=True)


def command_lines(command: str, width: int) -> Iterator[str]:
    """Yield a command in lines that a shell takes as one; no word is broken, an option and its value stay together."""
    try:
        words = shlex.split(command)
    except ValueError:
        words = []
    if cell_len(command) <= width or not words:
        yield command
        return
    line = ""
    for part in _parts(words):
        if line and cell_len(f"{line} {part} \\") > width:
            yield f"{line} \\"
            line = part
        else:
            line = f"{line} {part}" if line else part
    yield line


def _parts(words: Sequence[str]) -> Iterator[str]:
    """Yield what stays in one line: a word, or an option with its value."""
    part: list[str] = []
    for word in words:
        if part and (word.startswith("-") or not part[0].startswith("-") or len(part) > 1):
            yield shlex.join(part)
            part = []
        part.append(word)
    yield shlex.join(part)


def heading(console: Console, title: str) -> None:
    """Print the title of a section."""
    console.print()
    console.print(Text(title, style="bold"), soft_wrap=True)


def print_columns(
    columns: Sequence[Column], console: Console, indent: int = 2, styles: Sequence[str] = (), titled: bool = False
) -> None:
    """Print a table, or a list if it is too wide even without the columns that may be dropped.

    Args:
        styles: the style of each row, beside those of its cells.
        titled: the first column stands above its rows, however much room there is.
    """
    if not columns or not columns[0].cells:
        return
    room = console.width - indent
    first, *others = columns
    others = _narrowed(first, others, room)
    name_width = 0 if titled else _name_width(first, others, room)
    rest = room - name_width - GAP
    kept = keep(others, rest)
    if kept and _least_total(kept) > rest:
        _print_list(columns, console, indent, styles)
        return
    _print_rows(first, kept, [name_width, *_widths(kept, rest)], console, indent, styles)
    if dropped := [" ".join(_rejoined(column.heading)) for column in others if column not in kept]:
        say(console, f"Too narrow for: {', '.join(dropped)}.", "dim", indent)


def _narrowed(first: Column, others: Sequence[Column], room: int) -> list[Column]:
    """Return the other columns, with headings broken from the last on until names of usual length fit."""
    usual = max((width for cell in first.cells if (width := cell_len(cell)) <= LONG_NAME_SHARE * room), default=0)
    narrowed = list(others)
    for index in range(len(narrowed) - 1, -1, -1):
        if usual + GAP + _least_total(narrowed) <= room:
            break
        narrowed[index] = narrowed[index].narrowed()
    return narrowed


def _name_width(first: Column, others: Sequence[Column], room: int) -> int:
    """Return the width of the first column. A longer name stands above its row; with 0 every name does."""
    left = room - _least_total(others) - GAP if others else room
    if first.width <= left:
        return first.width
    names = [cell_len(name) for name in first.cells if name]
    fitting = [width for width in names if width <= left]
    if 2 * len(fitting) >= len(names):
        return max(fitting)
    return 0 if others and first.width > LONG_NAME_SHARE * room else first.width


def keep(columns: Sequence[Column], room: int) -> list[Column]:
    """Return the columns that remain when those to drop first have gone, so that they fit."""
    kept = list(columns)
    droppable = [column for column in columns if column.drop is not None]
    for column in sorted(droppable, key=lambda column: -(column.drop or 0)):
        if _least_total(kept) <= room:
            break
        kept.remove(column)
    return kept


def _least_total(columns: Sequence[Column]) -> int:
    return sum(column.least_width for column in columns) + GAP * (len(columns) - 1)


def _widths(columns: Sequence[Column], room: int) -> list[int]:
    """Return the widths of the columns; those of sentences share the room that the others leave."""
    spare = room - _least_total(columns)
    widths = []
    for column in columns:
        more = min(spare, column.width - column.least_width)
        spare -= more
        widths.append(column.least_width + more)
    return widths


def _print_rows(
    first: Column,
    others: Sequence[Column],
    widths: Sequence[int],
    console: Console,
    indent: int,
    styles: Sequence[str],
) -> None:
    _print_headings(first, others, widths, console, indent)
    columns, above = [first, *others], None
    for row, name in enumerate(first.cells):
        style = styles[row] if row < len(styles) else ""
        fits = cell_len(name) <= widths[0]
        if not fits and name != above:
            say(console, name, f"{first.style} {style}".strip(), indent)
        above = None if fits else name
        cells = [[name if fits else ""]]
        for column, width in zip(others, widths[1:], strict=True):
            cells.append(wrapped(column.cells[row], width) if column.prose else [column.cells[row]])
        for line in range(max(map(len, cells))):
            parts = [cell[line] if line < len(cell) else "" for cell in cells]
            looks = [f"{column.style} {style}".strip() for column in columns]
            console.print(_line(parts, columns, widths, looks, indent), soft_wrap=True)


def _print_headings(
    first: Column, others: Sequence[Column], widths: Sequence[int], console: Console, indent: int
) -> None:
    """Print the headings, each on the bottom line; the first column's goes above if it has no room."""
    columns = [first, *others]
    lines = [[""] if index == 0 else column.heading.split("\n") for index, column in enumerate(columns)]
    height = max(map(len, lines))
    headings = []
    for row in range(height):
        parts = [line[row - height + len(line)] if row >= height - len(line) else "" for line in lines]
        headings.append(_line(parts, columns, widths, ["dim"] * len(columns), indent).plain)
    room = next((row for row in range(height - 1, -1, -1) if _is_free(headings[row], first.heading, indent)), None)
    if room is not None:
        beside = headings[room][indent + cell_len(first.heading) :]
        headings[room] = f"{' ' * indent}{first.heading}{beside}"
    elif first.heading:
        say(console, first.heading, "dim", indent)
    for text in headings:
        if text.strip():
            console.print(Text(text.rstrip(), style="dim"), soft_wrap=True)


def _is_free(line: str, name: str, indent: int) -> bool:
    return "\n" not in name and not line[: indent + cell_len(name) + GAP].strip()


def _line(
    parts: Sequence[str], columns: Sequence[Column], widths: Sequence[int], styles: Sequence[str], indent: int
) -> Text:
    """Return a line of a table, which ends with its last text."""
    line = Text(" " * indent)
    last = max((index for index, part in enumerate(parts) if part), default=-1)
    for index, (part, column, width, style) in enumerate(zip(parts, columns, widths, styles, strict=True)):
        if index > last:
            break
        fill = " " * (width - cell_len(part))
        line.append("" if column.left else fill)
        line.append(part, style or None)
        line.append((fill if column.left and index < last else "") + (" " * GAP if index < last else ""))
    return line


def _print_list(columns: Sequence[Column], console: Console, indent: int, styles: Sequence[str]) -> None:
    """Print each row as lines of heading and value below its first cell."""
    first, *others = columns
    for row, name in enumerate(first.cells):
        style = styles[row] if row < len(styles) else ""
        say(console, name, f"{first.style} {style}".strip(), indent)
        for column in others:
            if column.cells[row]:
                title = " ".join(_rejoined(column.heading))
                text = f"{title}: {column.cells[row]}" if title else column.cells[row]
                say(console, text, style, indent + GAP, GAP)


def _rejoined(lines: str) -> Iterator[str]:
    """Yield the words of a heading; a word that was broken at a hyphen is whole again."""
    parts = lines.split("\n")
    joined = ""
    for part, following in pairwise([*parts, None]):
        joined += part or ""
        if not joined.endswith("-") or following is None:
            yield joined
            joined = ""
        else:
            joined = joined[:-1]
