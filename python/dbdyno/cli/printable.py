"""Text that is safe on a terminal: words of servers, labels and files must not move its cursor or change its state."""

from __future__ import annotations

import io
import sys

_PICTURES = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\n\t"} | {0x7F: 0x2421}
_OTHERS = (*range(0x80, 0xA0), 0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))
"""The second set of control characters, and those that turn the direction of text or end a line."""
_PRINTABLE = _PICTURES | dict.fromkeys(_OTHERS, 0xFFFD)


def printable(text: str) -> str:
    """Return text with a picture (␛) instead of each control character but tab and newline.

    JSON stays JSON, and means the same but for these.
    """
    return text if text.isascii() and text.isprintable() else text.translate(_PRINTABLE)


class PrintableStream(io.TextIOWrapper):
    """An output that prints `printable` text; rich, which sends control characters of its own, writes beside it.

    rich_proxied_file: where rich writes; it looks for this name.
    """

    def __init__(self, stream: io.TextIOWrapper) -> None:
        """Take the place of a stream, which stays open; a terminal of another character set shows `?` for µ or ≥."""
        stream.reconfigure(errors="replace")
        self.rich_proxied_file = stream
        super().__init__(
            stream.buffer, stream.encoding, "replace", line_buffering=stream.line_buffering, write_through=True
        )

    def write(self, text: str) -> int:
        return super().write(printable(text))


def protect_outputs() -> None:
    """Have everything that is printed from now on be printable."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper) and not isinstance(stream, PrintableStream):
            setattr(sys, name, PrintableStream(stream))
