"""A load client of the user's own: whether it can be run, and whether its records are those of the contract."""

import json
import os
from functools import lru_cache
from pathlib import Path
from typing import Annotated, cast

from pydantic import ConfigDict, Discriminator, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from dbdyno.contract import CONTRACT, HelloRecord, Record
from dbdyno.errors import RunFailed, UserError, system_words
from dbdyno.experiment.bounds import brief
from dbdyno.results.foreign_content import WRONG
from dbdyno.results.json_types import BuildStated
from dbdyno.results.records import Reader
from dbdyno.systems.builds.elf import machine
from dbdyno.systems.builds.identity import identify

PROGRAM = "program"
"""The setting of its build in `trial.json`."""
_NEEDED = ("hello", "phase run", "interval", "total")
"""The records without which a complete run has no figures."""
_SCRIPT = b"#!"


@lru_cache(maxsize=64)
def program_build(path: Path) -> BuildStated:
    """Return the build of a program, as a trial states it; raises UserError if it cannot be run here.

    Its version is known when it has said it.
    """
    try:
        _refuse_what_cannot_run(path)
        identity = identify(path)
    except OSError as error:
        raise UserError(f"client: {path}: {system_words(error)}") from None
    return {
        "setting": PROGRAM,
        "path": str(path),
        "version": None,
        "says": "",
        "sha256": identity.sha256,
        "build_id": identity.build_id,
    }


def with_version(build: BuildStated | None, hello: HelloRecord | None) -> BuildStated | None:
    """Return the build of a program with what it says of itself; any other as it is."""
    if build is None or hello is None or build["setting"] != PROGRAM:
        return build
    return {**build, "version": hello["version"], "says": f"{hello['program']} {hello['version']}"}


def _refuse_what_cannot_run(path: Path) -> None:
    """Raise UserError for a file that the kernel would not run, OSError if it cannot be read."""
    with path.open("rb") as file:
        first_line = file.readline(256)
    if not os.access(path, os.X_OK):
        raise UserError(f"client: {path} is not executable: chmod +x {path}")
    if first_line.startswith(_SCRIPT):
        interpreter = first_line.removeprefix(_SCRIPT).split()[:1]
        if not interpreter or not Path(os.fsdecode(interpreter[0])).is_file():
            raise UserError(f"client: {path} needs the program of its first line, which is not there")
        return
    of, ours = machine(path), machine(Path("/proc/self/exe"))
    if of is None:
        raise UserError(
            f"client: {path} is no program; the first line of a script names its interpreter, "
            "such as #!/usr/bin/env python3"
        )
    if of != ours:
        raise UserError(f"client: {path} is a program for {of}, and this host is {ours}")


class RecordCheck:
    """Holds each record of a program to the contract: its keys, their values, and the order of the records."""

    def __init__(self, name: str) -> None:
        """Take the program's name."""
        self._name = name
        self._reader = Reader(False)
        self._came: set[str] = set()

    def read(self, line: bytes) -> Record:
        """Return the record of a line; raises RunFailed if it is none, or if one that must precede it is missing."""
        record = self._object(line)
        kind = record.get("record")
        if kind == "hello" and record.get("contract") != CONTRACT:
            raise RunFailed(f"{self._name} speaks contract {brief(record.get('contract'))}, this dbdyno {CONTRACT}")
        try:
            checked = _adapter().validate_python(record)
            self._reader.add(checked)
        except ValidationError as error:
            raise RunFailed(f"{self._name}: {_wrong(error.errors(include_url=False)[0])} (docs/contract.md)") from None
        except WRONG as error:
            what = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
            raise RunFailed(f"{self._name}: a record '{kind}' is wrong: {what} (docs/contract.md)") from None
        self._check_order(checked)
        return checked

    def _object(self, line: bytes) -> dict[str, object]:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict):
            text = brief(line.decode(errors="replace"))
            raise RunFailed(f"{self._name} wrote {text}, which is no record; text for people goes to stderr")
        return record

    def _check_order(self, record: Record) -> None:
        if record["record"] not in ("hello", "end") and "hello" not in self._came:
            raise RunFailed(f"{self._name} wrote the record '{record['record']}' before 'hello'")
        if record["record"] == "interval" and record["second"] != len(self._reader.intervals) - 1:
            due = len(self._reader.intervals) - 1
            raise RunFailed(f"{self._name} wrote the interval of second {record['second']} instead of {due}")
        self._came.add(f"phase {record['phase']}" if record["record"] == "phase" else record["record"])
        if record["record"] == "end" and record["status"] == "complete":
            for needed in _NEEDED:
                if needed not in self._came:
                    raise RunFailed(f"{self._name} ended as complete without {needed} (docs/contract.md)")


@lru_cache(maxsize=1)
def _adapter() -> TypeAdapter[Record]:
    """Return what checks a record; it is made at its first use, because that takes time."""
    kinds = Annotated[Record, Discriminator("record")]
    config = ConfigDict(strict=True, extra="forbid")
    return cast("TypeAdapter[Record]", TypeAdapter(kinds, config=config))


def _wrong(detail: ErrorDetails) -> str:
    """Return in words what is wrong with a record."""
    if not detail["loc"]:
        return f"it wrote {brief(detail['input'])}, which is none of the records"
    key = ".".join(map(str, detail["loc"][1:]))
    kind = detail["loc"][0]
    if detail["type"] == "missing":
        return f"its record '{kind}' has no key '{key}'"
    if detail["type"] == "extra_forbidden":
        return f"a record '{kind}' has no key '{key}'"
    message = detail["msg"].removeprefix("Input ")
    return f"{key} = {brief(detail['input'])} of its record '{kind}' {message}"
