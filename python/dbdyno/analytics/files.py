"""The files that are loaded: generated month by month, or a person's own, each checked before a store sees it."""

from __future__ import annotations

import csv
import os
import signal
import zipfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from datetime import date
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
import pyarrow.csv as pv

from dbdyno.analytics.columns import COLUMNS, EARLIER_NAMES
from dbdyno.analytics.flights import write_file
from dbdyno.analytics.months import Month
from dbdyno.analytics.table import Column
from dbdyno.errors import UserError

BATCH_ROWS = 1_000_000
"""Rows that are generated before they are loaded: what bounds the disk space of files, about 450 MB."""
FILE_ROWS = 25_000
"""Rows that a generated file has at least: real ones have a month's 400,000, and a store takes time for each file."""
SHOWN = 5
"""Malformed lines of a file that are printed; the others are counted."""

Batch = list[tuple[Path, int]]
"""Files and the rows in each, header left out."""
Tell = Callable[[str], None]
Part = TypeVar("Part")


def generated(months: list[Month], seed: int, folder: Path) -> Iterator[Batch]:
    """Yield generated files, a batch at a time; whoever takes them removes them.

    No batch is made while another is loaded: generating would take the processors that loading is measured by.
    """
    workers = len(os.sched_getaffinity(0))
    # A terminal's Ctrl-C reaches them too; who started them ends them.
    ignoring = (signal.SIGINT, signal.SIG_IGN)
    spawning = get_context("spawn")
    with ProcessPoolExecutor(workers, spawning, initializer=signal.signal, initargs=ignoring) as pool:
        for batch in _grouped(_grouped(months, FILE_ROWS, _rows), BATCH_ROWS, lambda file: sum(map(_rows, file))):
            paths = [folder / f"{file[0].year}-{file[0].month:02d}.csv" for file in batch]
            list(pool.map(write_file, paths, [seed] * len(batch), batch))
            yield [(path, sum(map(_rows, file))) for path, file in zip(paths, batch, strict=True)]


def _rows(month: Month) -> int:
    return month.rows


def _grouped(parts: Iterable[Part], rows: int, rows_of: Callable[[Part], int]) -> Iterator[list[Part]]:
    """Yield consecutive parts, as many together as have `rows` or just more."""
    group: list[Part] = []
    for part in parts:
        group.append(part)
        if sum(map(rows_of, group)) >= rows:
            yield group
            group = []
    if group:
        yield group


def own_files(folder: Path) -> list[Path]:
    """Return the CSV files of a folder, zipped or not; raises UserError if there are none."""
    if not folder.is_dir():
        raise UserError(f"--csv {folder}: there is no such folder")
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() in (".csv", ".zip"))
    if not files:
        raise UserError(f"--csv {folder}: there is no .csv or .zip file in it")
    return files


def unpacked_bytes(sources: list[Path]) -> int:
    """Return the size of the CSV files in all sources; of one that is damaged `checked` will say so."""
    size_bytes = 0
    for source in sources:
        if source.suffix.lower() != ".zip":
            size_bytes += source.stat().st_size
            continue
        with suppress(OSError, zipfile.BadZipFile), zipfile.ZipFile(source) as archive:
            size_bytes += sum(
                member.file_size for member in archive.infolist() if member.filename.lower().endswith(".csv")
            )
    return size_bytes


def checked(sources: list[Path], folder: Path, skip: bool, tell: Tell) -> Iterator[Batch]:
    """Yield each file unzipped and without malformed lines, a batch for each; whoever takes them removes them.

    skip: leave malformed lines out and tell of each, with file and line; else the first of them is an error.
    Raises UserError for a malformed line, a file of another layout, or one that cannot be read.
    """
    for source in sources:
        for name, copy in _unpacked(source, folder):
            yield [(copy, _check(name, copy, skip, tell))]


def _unpacked(source: Path, folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the CSV files in a source as (name for a person, a copy that is ours)."""
    try:
        if source.suffix.lower() != ".zip":
            copy = folder / source.name
            copy.symlink_to(source.resolve())
            yield str(source), copy
            return
        with zipfile.ZipFile(source) as archive:
            for name in archive.namelist():
                if name.lower().endswith(".csv"):
                    copy = folder / Path(name).name
                    with archive.open(name) as packed, copy.open("wb") as file:
                        while block := packed.read(1 << 20):
                            file.write(block)
                    yield f"{source}/{name}", copy
    except (OSError, zipfile.BadZipFile) as error:
        raise UserError(f"{source}: cannot be read: {error}") from None


def _check(name: str, path: Path, skip: bool, tell: Tell) -> int:
    """Return the rows of a file, from which malformed lines were taken if there were some and `skip`."""
    _check_header(name, path)
    types = {str(number): _TYPES[column.kind] for number, column in enumerate(COLUMNS)}
    names = [*types, "end"]
    reading = pv.ReadOptions(skip_rows=1, column_names=names, use_threads=False, block_size=8 << 20)
    converting = pv.ConvertOptions(column_types=types | {"end": pa.null()}, strings_can_be_null=True)
    try:
        with pv.open_csv(path, reading, convert_options=converting) as reader:
            return sum(batch.num_rows for batch in reader)
    except pa.ArrowInvalid:
        # It does not say in which line; what follows does, at a tenth of the speed.
        return _without_malformed(name, path, skip, tell)


_TYPES = {"integer": pa.float64(), "date": pa.date32(), "text": pa.binary()}
"""The files write whole numbers with decimals, too: `-4.00`."""


def _check_header(file_name: str, path: Path) -> None:
    with path.open(encoding="latin-1", newline="") as file:
        names = [EARLIER_NAMES.get(name.strip(), name.strip()) for name in next(csv.reader(file), [])]
    # Every line of the real files ends with a comma, so that there is a column more, without a name.
    wanted = [*(column.name for column in COLUMNS), ""]
    for number, (name, expected) in enumerate(zip(names, wanted, strict=False), 1):
        if name.lower() != expected.lower():
            raise UserError(
                f"{file_name}, line 1: column {number} is '{name}' and should be '{expected}': another layout"
            )
    if len(names) != len(wanted):
        raise UserError(
            f"{file_name}, line 1: {len(names)} columns, and the on-time files have {len(wanted)}: another layout"
        )


def _without_malformed(name: str, path: Path, skip: bool, tell: Tell) -> int:
    good = path.with_name(path.name + ".good")
    rows = wrong = 0
    with path.open("rb") as source, good.open("wb") as kept:
        kept.write(source.readline())
        for number, line in enumerate(source, 2):
            if (problem := _problem(line)) is None:
                kept.write(line)
                rows += 1
                continue
            wrong += 1
            if not skip:
                raise UserError(f"{name}, line {number}: {problem}; --set options.malformed=skip leaves such lines out")
            if wrong <= SHOWN:
                tell(f"{name}, line {number}: {problem}: left out")
    if wrong > SHOWN:
        tell(f"{name}: {wrong} malformed lines were left out, of {rows + wrong}")
    os.replace(good, path)
    return rows


def _problem(line: bytes) -> str | None:
    """Return what is wrong with a line, or None."""
    text = line.decode("latin-1")
    if text.count('"') % 2:
        return "a quote is not closed"
    fields = next(csv.reader([text]), [])
    if len(fields) != len(COLUMNS) + 1 or fields[-1]:
        return f"{len(fields)} fields instead of {len(COLUMNS)} and a comma"
    return next(filter(None, map(_wrong_value, COLUMNS, fields)), None)


def _wrong_value(column: Column, value: str) -> str | None:
    readers: dict[str, Callable[[str], object]] = {"integer": float, "date": date.fromisoformat}
    reader = readers.get(column.kind)
    if not value or reader is None:
        return None
    try:
        reader(value)
    except ValueError:
        return f"{column.name} is '{value[:40]}', which is not a {'number' if column.kind == 'integer' else 'date'}"
    return None
