"""Column stores that are libraries, each got as a package and run in a child process of dbdyno."""

from typing import Any, ClassVar

from dbdyno.errors import RunFailed
from dbdyno.experiment.workloads import ANALYSE
from dbdyno.systems.analyst import Analyst
from dbdyno.systems.child_analyst import ChildAnalyst, ChildFailed
from dbdyno.systems.embedded import Embedded
from dbdyno.systems.packages.cache import folder_of, installed
from dbdyno.systems.packages.catalogue import PACKAGES


class Library(Embedded):
    """One folder of data. Settings: `threads` and `memory_limit_mib`; 0 is the store's own default.

    analyst_module, analyst_class: what is made in the child process, of the data's folder, the package's, and settings.
    """

    operations = frozenset({ANALYSE})
    table_share: ClassVar[float] = 0.25
    choices: ClassVar[dict[str, tuple[str, ...]]] = {}
    numbers: ClassVar[dict[str, int]] = {"threads": 0, "memory_limit_mib": 0}
    analyst_module: ClassVar[str]
    analyst_class: ClassVar[str]

    @classmethod
    def missing(cls) -> str | None:
        package = PACKAGES[cls.name]
        return None if installed(package) else f"{cls.name} is not installed: {package.how_to_get_it}"

    def servers(self) -> list[dict[str, Any]]:
        return [{**super().servers()[0], "version": PACKAGES[self.name].release}]

    def analyst(self) -> Analyst:
        library = folder_of(PACKAGES[self.name])
        try:
            return ChildAnalyst(self.analyst_module, self.analyst_class, self.path, library, self.settings())
        except ChildFailed as error:
            raise RunFailed(f"{self.spec.label}: {error}") from None

    def store_plan(self, secrets: list[str]) -> dict[str, Any]:
        del secrets
        return {"kind": self.name, "path": str(self.path), **self.settings()}
