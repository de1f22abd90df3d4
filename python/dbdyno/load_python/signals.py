"""SIGINT and SIGTERM end the run phase; a second one ends the program at once."""

import os
import signal
from types import FrameType

_came: list[int] = []


def listen() -> None:
    """Begin to listen."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _note)


def stop_requested() -> bool:
    """Say whether a signal came."""
    return bool(_came)


def _note(number: int, frame: FrameType | None) -> None:
    del frame
    if _came:
        os._exit(130)
    _came.append(number)
