"""Column stores that are libraries, each got as a package and run in a child process of dbdyno."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, ClassVar

from dbdyno.errors import RunFailed, UserError
from dbdyno.experiment.workloads import ANALYSE
from dbdyno.systems.analyst import Analyst
from dbdyno.systems.analytic.child_analyst import ChildAnalyst, ChildFailed
from dbdyno.systems.base import Launch
from dbdyno.systems.embedded.embedded import Embedded
from dbdyno.systems.packages.cache import folder_of, installed
from dbdyno.systems.packages.catalogue import PACKAGES
from dbdyno.systems.settings import without_secrets

if TYPE_CHECKING:
    from dbdyno.contract import StoreDocument


class Library(Embedded):
    """One folder of data. Settings: `threads` and `memory_limit_mib`; 0 is the store's own default.

    settings_query: asks for all that the store shows, name and value. shown_as: its name of each setting that is among
    these, and what makes dbdyno's value of its own.
    analyst_module, analyst_class: what is made in the child process, of the data's folder, the package's, and settings.
    """

    operations = frozenset({ANALYSE})
    table_share: ClassVar[float] = 0.25
    several_analysts: ClassVar[bool] = False
    choices: ClassVar[dict[str, tuple[str, ...]]] = {}
    numbers: ClassVar[dict[str, int]] = {"threads": 0, "memory_limit_mib": 0}
    settings_query: ClassVar[str]
    shown_as: ClassVar[Mapping[str, tuple[str, Callable[[str], str]]]]
    analyst_module: ClassVar[str]
    analyst_class: ClassVar[str]

    @classmethod
    def missing(cls) -> str | None:
        package = PACKAGES[cls.name]
        return None if installed(package) else f"{cls.name} is not installed: {package.how_to_get_it}"

    def start(self, launch: Launch) -> None:
        super().start(launch)
        with closing(self.analyst()) as analyst:
            try:
                effective = {name: str(value) for name, value in analyst.ask(self.settings_query)}
            except analyst.error as error:
                raise RunFailed(f"{self.spec.label}: {error}") from None
        ours = {key: read(effective[theirs]) for key, (theirs, read) in self.shown_as.items()}
        for key, given in self.settings().items():
            if given and key in ours and ours[key] != str(given):
                raise UserError(f"{self.spec.label}: {key}={given} was given, and {self.name} has {ours[key]}")
        hidden = [key for key in self.settings() if key not in ours]
        settings = without_secrets(effective) | ours
        self.opened({"version": PACKAGES[self.name].release, "settings": settings, "not_readable": hidden})

    def analyst(self) -> Analyst:
        library = folder_of(PACKAGES[self.name])
        try:
            return ChildAnalyst(self.analyst_module, self.analyst_class, self.path, library, self.settings())
        except ChildFailed as error:
            raise RunFailed(f"{self.spec.label}: {error}") from None

    def store_plan(self, secrets: list[str]) -> StoreDocument:
        del secrets
        return {"kind": self.name, "path": str(self.path), **self.settings()}


def in_mebibytes(size_bytes: str) -> str:
    """Return in MiB what a store shows in bytes."""
    return str(int(size_bytes) >> 20)
