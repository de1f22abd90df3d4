"""Rich's console for output that holds other people's text."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from dbdyno.cli.color import console_options
from dbdyno.cli.printable import printable

UNLIMITED = 100_000
"""Characters of a line if nobody looks at a terminal: a file or another program gets whole lines."""


class PrintableConsole(Console):
    """Prints `printable` text, whatever is rendered."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the segments of a renderable; only rich's own have control characters."""
        for segment in super().render(renderable, options):
            text, style, control = segment
            yield segment if control or text.isprintable() else Segment(printable(text), style)


def make_console(**options: Any) -> Console:
    """Return the console for a command's output: nothing is highlighted but what has a style.

    It is as wide as the terminal, or as COLUMNS says. Output that goes elsewhere has no width.
    """
    console = PrintableConsole(highlight=False, **(console_options() | options))
    if "width" not in options and not console.is_terminal and not os.environ.get("COLUMNS", "").isdigit():
        console.width = UNLIMITED
    return console
