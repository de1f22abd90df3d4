"""Writes a run's folder: what states something whole and renamed into place, what goes on line by line."""

import json
import os
import time
from collections.abc import Sequence
from itertools import chain, count
from pathlib import Path
from typing import BinaryIO

from dbdyno.contract import JsonObject
from dbdyno.errors import UserError
from dbdyno.results.environment import Environment
from dbdyno.results.facts import PreparationFacts, RunFacts, TrialFacts
from dbdyno.results.profile import ProfileStated

FORMAT = 2
"""Format of the run folder. Format 1, never released, had processes.jsonl instead of observations."""

AGAIN = "-again"
"""Ends the name of a ceiling that was measured a second time."""


def write_whole(path: Path, content: str) -> None:
    """Write a file so that whoever looks sees all of it or what was there before, even after a kill."""
    partial = path.with_name(path.name + ".partial")
    partial.write_text(content, encoding="utf-8")
    os.replace(partial, path)


def write_object(path: Path, content: JsonObject) -> None:
    """Write one JSON object, for people too."""
    write_whole(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def write_trial(folder: Path, facts: TrialFacts) -> None:
    """Write `trial.json` into a trial's folder."""
    write_object(folder / "trial.json", facts.document())


def write_preparation(folder: Path, facts: PreparationFacts) -> None:
    """Write `preparation.json` into a preparation's folder."""
    write_object(folder / "preparation.json", facts.document())


def write_profile(folder: Path, profile: ProfileStated) -> None:
    """Write `profile.json` into a trial's folder `profile`."""
    write_object(folder / "profile.json", profile)


def write_compact(path: Path, content: JsonObject) -> None:
    """Write one JSON object whose long lists nobody reads line by line."""
    write_whole(path, json.dumps(content, ensure_ascii=False) + "\n")


class Lines:
    """A `.jsonl` file being appended to; a line is in the file when `append` returns."""

    def __init__(self, path: Path) -> None:
        """Open it for appending."""
        self._file: BinaryIO = path.open("ab", buffering=0)

    def append(self, line: bytes) -> None:
        """Append one line, given without its end."""
        rest = memoryview(line + b"\n")
        while rest:
            # An unbuffered write to a disk that is nearly full may take a part only; the next one then raises.
            rest = rest[self._file.write(rest) :]

    def append_object(self, content: JsonObject) -> None:
        """Append one object as a line."""
        self.append(json.dumps(content).encode())

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class RunFolder:
    """The folder of one run."""

    def __init__(self, path: Path) -> None:
        """Take a folder that exists."""
        self.path = path
        self.name = path.name

    @classmethod
    def create(cls, parent: Path, experiment: str, started_unix_s: float) -> "RunFolder":
        """Make `parent/<time>-<experiment>`; raises UserError if that cannot be done."""
        name = f"{time.strftime('%Y-%m-%dT%H-%M-%S', time.localtime(started_unix_s))}-{experiment}"
        for suffix in ("", *(f"-{number}" for number in range(2, 100))):
            path = parent / (name + suffix)
            try:
                path.mkdir(parents=True)
            except FileExistsError:
                if not path.is_dir():
                    raise UserError(f"{path}: cannot be made, a file is there") from None
                continue
            except OSError as error:
                raise UserError(f"{path}: cannot be made: {error.strerror}; choose another with --out") from None
            return cls(path)
        raise UserError(f"{parent / name}: there are a hundred of this name; choose another folder with --out")

    def write_run(self, facts: RunFacts, keys: Sequence[str] = ()) -> None:
        """Write `run.json`; keys: those that a resumed run's file has already, in their order."""
        write_object(self.path / "run.json", facts.document(keys))

    def write_experiment(self, toml: str) -> None:
        """Write `experiment.toml`."""
        write_whole(self.path / "experiment.toml", toml)

    def write_environment(self, content: Environment) -> None:
        """Write `environment.json`."""
        write_object(self.path / "environment.json", content)

    def preparation(self, name: str) -> Path:
        """Make and return a preparation's folder."""
        return self._make("preparations", name)

    def trial(self, name: str) -> Path:
        """Make and return a trial's folder."""
        return self._make("trials", name)

    def ceiling(self, name: str) -> Path:
        """Make and return the folder of a measurement of the load client alone."""
        return self._make("ceilings", name)

    def confirmation(self, trial: str) -> Path:
        """Make and return the folder of the same load with less of what had limited a trial."""
        return self._make("confirmations", trial)

    def earlier(self) -> Path:
        """Make and return the folder for what the session before this one recorded and this one replaces."""
        parent = self.path / "earlier"
        return self._make(parent.name, f"{len(list(parent.glob('*'))) + 1:02d}")

    def free_preparation(self, name: str) -> str:
        """Return the name of the next attempt at a preparation: its own, then `-again-1` and so on."""
        attempts = chain([name], (f"{name}-again-{number}" for number in count(1)))
        return next(attempt for attempt in attempts if not (self.path / "preparations" / attempt).exists())

    def ceilings_made(self) -> int:
        """Return how many loads the load client alone was measured under."""
        return sum(not path.name.endswith(AGAIN) for path in self.path.glob("ceilings/*"))

    def _make(self, kind: str, name: str) -> Path:
        path = self.path / kind / name
        path.mkdir(parents=True)
        return path
