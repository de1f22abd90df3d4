"""The base of embedded stores whose C library is installed on the host; the load client loads it on opening."""

from __future__ import annotations

from ctypes.util import find_library
from functools import cache
from typing import TYPE_CHECKING, ClassVar

from dbdyno.errors import UserError
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.experiment.workloads import SCAN
from dbdyno.systems.embedded.embedded import Settings
from dbdyno.systems.embedded.engine import Engine
from dbdyno.systems.embedded.musl import find_in, is_musl, library_folders

if TYPE_CHECKING:
    from dbdyno.contract import StoreDocument

BUCKETS_PER_ROW = 2
"""A hash's buckets, unless a setting says otherwise: with fewer than one a row every get follows a chain."""


class InstalledLibrary(Engine):
    """An engine in a C library of the host's.

    A hash has no order of keys to scan in; a tree, or an engine without that choice, has one.
    library: as the linker names it.
    only_with: settings that only one value of another setting has a use for: setting to (other setting, value).
    """

    operations = Engine.operations | {SCAN}
    reasons: ClassVar[dict[str, str]] = {SCAN: "a hash has no order of keys; type=tree has one"}
    library: ClassVar[str]
    only_with: ClassVar[dict[str, tuple[str, str]]] = {}

    def __init__(self, spec: SystemSpec) -> None:
        super().__init__(spec)
        # Without rows, as before the start, the buckets are those that are given.
        self.rows = 0
        settings = self.settings()
        if settings.get("type") == "hash":
            self.operations = self.operations - {SCAN}
        for key, (other, value) in self.only_with.items():
            if key in spec.settings and settings[other] != value:
                raise UserError(f"{spec.label}: {key} is for {other}={value} only; leave it out")

    @classmethod
    def missing(cls) -> str | None:
        if soname(cls.library):
            return None
        # The development package, as the other's name changes with every release.
        return f"lib{cls.library} is not installed: apt install lib{cls.library}-dev"

    def settings(self) -> Settings:
        settings = super().settings()
        if "buckets" in settings:
            settings["buckets"] = settings["buckets"] or max(1, self.rows * BUCKETS_PER_ROW)
        chosen = (key for key, (other, value) in self.only_with.items() if settings[other] != value)
        return settings | dict.fromkeys(chosen, 0)

    def store_plan(self, secrets: list[str]) -> StoreDocument:
        del secrets
        return {"kind": self.name, "path": str(self.path), "library": soname(self.library), **self.settings()}


@cache
def soname(library: str) -> str | None:
    """Return the name under which the loader finds a library (`librocksdb.so.7.8`), or None if there is none."""
    return find_in(library_folders(), library) if is_musl() else find_library(library)
