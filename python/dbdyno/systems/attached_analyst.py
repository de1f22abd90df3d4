"""A whole table on somebody else's server: made under dbdyno's marker, and removed by it."""

import json
from abc import abstractmethod

from dbdyno.analytics.table import Table
from dbdyno.errors import UserError
from dbdyno.systems.analyst import Analyst

MARKER = 'dbdyno:{"run_id":'
"""The beginning of the comment of every table that dbdyno makes; `dbdyno clean` looks for it too."""


def marker_of(run: str, workload: str, rows: int) -> str:
    """Return the comment of a table that a run makes for a workload of so many rows."""
    made = {"run_id": run, "workload": {"name": workload, "rows": rows}}
    return f"dbdyno:{json.dumps(made, separators=(',', ':'))}"


class AttachedAnalyst(Analyst):
    """A connection to a server that dbdyno did not start. It changes no setting there, and no table but its own."""

    def create(self, table: Table) -> None:
        raise NotImplementedError("a table on somebody else's server has a marker")

    @abstractmethod
    def create_marked(self, table: Table, marker: str) -> None:
        """Make the empty table, with this comment from its first moment on."""

    @abstractmethod
    def comment(self, table: Table) -> str | None:
        """Return the comment of the table of that name; None if there is no such table."""

    def claim(self, table: Table) -> None:
        """Remove an earlier table of dbdyno's; raises UserError if somebody else's has that name."""
        if (comment := self.comment(table)) is not None and not comment.startswith(MARKER):
            raise UserError(
                f"a table {table.name} without dbdyno's marker exists, and dbdyno does not drop it. "
                "Use another database"
            )
        self.remove(table)

    def remove(self, table: Table) -> None:
        """Drop the table of that name if it carries dbdyno's marker."""
        if (self.comment(table) or "").startswith(MARKER):
            self.ask(f"DROP TABLE {table.name}")
