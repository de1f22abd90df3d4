"""Rich's console for output that holds other people's text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from dbdyno.cli.printable import printable


class PrintableConsole(Console):
    """Prints `printable` text, whatever is rendered."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the segments of a renderable; only rich's own have control characters."""
        for segment in super().render(renderable, options):
            text, style, control = segment
            yield segment if control or text.isprintable() else Segment(printable(text), style)


def make_console(**options: Any) -> Console:
    """Return the console for a command's output: nothing is highlighted but what has a style."""
    return PrintableConsole(highlight=False, **options)
