"""The base of the stores that run inside the load client."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from dbdyno.errors import UserError, did_you_mean
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.systems.base import Launch, System
from dbdyno.systems.running.kept_data import KeptData
from dbdyno.systems.running.process import PrivateDirectory

if TYPE_CHECKING:
    from dbdyno.contract import LibraryRecord
    from dbdyno.results.json_types import ServerStated

_NOT_LOADED: LibraryRecord = {"version": None, "settings": {}}

Settings: TypeAlias = dict[str, Any]
"""The settings of an engine by name: words, and whole numbers."""


class Embedded(System):
    """A store without a server.

    choices: settings that take one of some words, the default first. numbers: those that take a number, default.
    """

    embedded = True
    can_crash = True
    can_keep = True
    choices: ClassVar[dict[str, tuple[str, ...]]]
    numbers: ClassVar[dict[str, int]]

    def __init__(self, spec: SystemSpec) -> None:
        super().__init__(spec)
        self._directory: PrivateDirectory | None = None
        self._library: LibraryRecord = _NOT_LOADED
        self._check_settings()

    def _check_settings(self) -> None:
        accepted = (*self.choices, *self.numbers)
        for key, value in self.spec.settings.items():
            if key not in accepted:
                hint = did_you_mean(key, accepted)
                raise UserError(f"{self.spec.label}: no setting '{key}'{hint} There are {', '.join(accepted)}.")
            if key in self.choices and value.lower() not in self.choices[key]:
                raise UserError(f"{self.spec.label}: {key} = '{value}': give one of {', '.join(self.choices[key])}")
            if key in self.numbers and not re.fullmatch(r"[0-9]{1,18}", value):
                raise UserError(f"{self.spec.label}: {key} = '{value}': give a whole number")

    def start(self, launch: Launch) -> None:
        self._directory = PrivateDirectory(launch)
        self.rows = launch.rows

    def stop(self) -> None:
        if self._directory:
            self._directory.remove()
            self._directory = None
        self._library = _NOT_LOADED

    def keep(self) -> KeptData:
        path, self._directory = self.path, None
        return KeptData(path)

    def cache_state(self, restored: bool) -> str | None:
        # Every trial opens it anew, in another process than the one that loaded it.
        return "lukewarm"

    @property
    def path(self) -> Path:
        """The directory of the store's files, while it is started."""
        assert self._directory is not None, "not started"
        return self._directory.path

    def data_directories(self) -> tuple[Path, ...]:
        return (self.path,)

    def settings(self) -> Settings:
        """Return every setting: those given, and the defaults of the others."""
        chosen = {key: self.spec.settings.get(key, accepted[0]).lower() for key, accepted in self.choices.items()}
        return chosen | {key: int(self.spec.settings.get(key, value)) for key, value in self.numbers.items()}

    def opened(self, library: LibraryRecord) -> None:
        self._library = library

    def servers(self) -> list[ServerStated]:
        """Return the settings as the library shows them, once it is loaded; those it does not show, as given."""
        settings, version = self._library["settings"], self._library["version"]
        effective = {key: settings.get(key, str(value)) for key, value in self.settings().items()}
        server: ServerStated = {"name": self.server_name, "version": version, "effective_settings": effective}
        if hidden := self._library.get("not_readable"):
            server["not_readable"] = hidden
        return [server]

    def all_settings(self) -> dict[str, dict[str, str]]:
        (server,) = self.servers()
        return {self.server_name: {**self._library["settings"], **server["effective_settings"]}}
