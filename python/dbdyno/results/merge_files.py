"""The recorded files of several load clients merged as one, in bounded time and memory."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from concurrent import futures
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from dbdyno.contract import Record, as_record
from dbdyno.results.jsonfiles import from_json, read_lines
from dbdyno.results.merge import merge_records

_BUCKETS = re.compile(rb'("buckets": ?)\[([0-9, ]+)\]')
PARALLEL_ABOVE_BYTES = 64 << 20
"""More records than that take seconds, which are shared between processors: merging some hosts, then these."""


def merge_files(files: Sequence[Path], offsets_s: Sequence[float], scratch: Path) -> Iterator[Record]:
    """Yield the records of one trial, from the files of its load clients (`merge_records`).

    scratch: a folder for files that are removed again. Raises ValueError if the parts are not of one trial, UserError
    if a file cannot be understood.
    """
    groups = _groups(files)
    if len(groups) < 2:
        yield from merge_records([_records(file) for file in files], offsets_s)
        return
    merged = [scratch / f"merged-{number}.jsonl" for number in range(len(groups))]
    try:
        # The conductor has threads, which a fork would leave behind.
        with futures.ProcessPoolExecutor(len(groups), get_context("spawn")) as pool:
            work = [
                pool.submit(_merge_to, files[group], offsets_s[group], out)
                for group, out in zip(groups, merged, strict=True)
            ]
            for done in work:
                done.result()
        # Their times are this host's already.
        yield from merge_records([_records(file) for file in merged], [0.0] * len(merged))
    finally:
        for file in merged:
            file.unlink(missing_ok=True)


def _groups(files: Sequence[Path]) -> list[slice]:
    """Return which files each processor merges, in order; one group if there is little."""
    size_bytes = sum(file.stat().st_size for file in files if file.exists())
    count = min(len(os.sched_getaffinity(0)), len(files) // 2) if size_bytes > PARALLEL_ABOVE_BYTES else 1
    edges = [len(files) * number // max(1, count) for number in range(max(1, count) + 1)]
    return [slice(begin, end) for begin, end in pairwise(edges)]


def _records(file: Path) -> Iterator[Record]:
    return (as_record(record) for _, record in read_lines(file, _parse))


def _parse(line: bytes) -> Any:
    """Return a record whose lists of buckets are arrays; raises ValueError if the line is not JSON.

    These lists are nearly all of a record. To make objects of Python of their numbers took most of a merge.
    """
    pieces = _BUCKETS.split(line)
    arrays = [np.fromstring(numbers, np.int64, sep=",") for numbers in pieces[2::3]]
    if any(map(_is_malformed, pieces[2::3], arrays)):
        return from_json(line)
    pieces[2::3] = [b"null"] * len(arrays)
    record = from_json(b"".join(pieces))
    if arrays:
        _fill_in(record, iter(arrays))
    return record


def _is_malformed(numbers: bytes, read: np.ndarray) -> bool:
    """Return whether a text is no list of numbers with a comma between two: such a text is not read to its end."""
    commas = numbers.count(b",")
    return len(read) != commas + 1 or numbers.count(b" ") > commas


def _fill_in(value: dict[str, Any], arrays: Iterator[np.ndarray]) -> None:
    """Put arrays in the places of lists of buckets, in their order."""
    for key, inner in value.items():
        if key == "buckets" and inner is None:
            value[key] = next(arrays)
        elif isinstance(inner, dict):
            _fill_in(inner, arrays)


def _merge_to(files: Sequence[Path], offsets_s: Sequence[float], out: Path) -> None:
    with out.open("w") as lines:
        for record in merge_records([_records(file) for file in files], offsets_s):
            lines.write(json.dumps(record) + "\n")
