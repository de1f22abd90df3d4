"""Writes records: one JSON object a line, flushed at its end."""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from dbdyno.contract import ErrorRecord, MismatchRecord, Phase, PhaseRecord, Record

EXAMPLES = 5
"""How many errors of a kind, and how many mismatches, are kept word for word, of all processes together."""


Example = ErrorRecord | MismatchRecord


class Records:
    """The destination of records."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._shown: Counter[str] = Counter()

    def write(self, record: Record) -> None:
        """Write one record; when nobody reads any more there is nobody to measure for, and the program ends."""
        try:
            self._out.write(json.dumps(record, separators=(",", ":")) + "\n")
            self._out.flush()
        except OSError as error:
            print(f"dbdyno-load-python: cannot write records, ending: {error}", file=sys.stderr)
            os._exit(1)

    def write_example(self, record: Example) -> None:
        """Write a record of an error or a mismatch, if it is one of the first few of its kind."""
        kind = f"error {record['kind']}" if record["record"] == "error" else record["record"]
        self._shown[kind] += 1
        if self._shown[kind] <= EXAMPLES:
            self.write(record)

    @contextmanager
    def phase(self, name: Phase) -> Iterator[PhaseRecord]:
        """Write when a phase begins and when it ends, in whatever way; yields the record of its end, to be added to."""
        began = time.monotonic()
        end: PhaseRecord = {"record": "phase", "phase": name, "state": "end"}
        self.write({"record": "phase", "phase": name, "state": "begin", "at_unix_s": time.time()})
        try:
            yield end
        finally:
            seconds = round(time.monotonic() - began, 6)
            self.write({**end, "at_unix_s": time.time(), "seconds": seconds})
