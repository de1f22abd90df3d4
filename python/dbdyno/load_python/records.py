"""Writes records: one JSON object a line, flushed at its end."""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

EXAMPLES = 5
"""How many errors of a kind, and how many mismatches, are kept word for word, of all processes together."""


class Records:
    """The destination of records."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._shown: Counter[str] = Counter()

    def write(self, record: str, /, **keys: Any) -> None:
        """Write one record; when nobody reads any more there is nobody to measure for, and the program ends."""
        try:
            self._out.write(json.dumps({"record": record, **keys}, separators=(",", ":")) + "\n")
            self._out.flush()
        except OSError as error:
            print(f"dbdyno-load-python: cannot write records, ending: {error}", file=sys.stderr)
            os._exit(1)

    def write_example(self, record: dict[str, Any]) -> None:
        """Write a record of an error or a mismatch, if it is one of the first few of its kind."""
        kind = f"{record['record']} {record.get('kind')}"
        self._shown[kind] += 1
        if self._shown[kind] <= EXAMPLES:
            self.write(record["record"], **{key: value for key, value in record.items() if key != "record"})

    @contextmanager
    def phase(self, name: str) -> Iterator[dict[str, Any]]:
        """Write when a phase begins and when it ends, in whatever way; more for its end goes into what is yielded."""
        began = time.monotonic()
        more: dict[str, Any] = {}
        self.write("phase", phase=name, state="begin", at_unix_s=time.time())
        try:
            yield more
        finally:
            seconds = round(time.monotonic() - began, 6)
            self.write("phase", phase=name, state="end", at_unix_s=time.time(), seconds=seconds, **more)
