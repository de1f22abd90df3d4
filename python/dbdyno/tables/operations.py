"""One row an operation of a trial."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dbdyno.report.core.trial_documents import OperationDocument
from dbdyno.report.document import document
from dbdyno.results.model import Run
from dbdyno.tables.table import Column, Table
from dbdyno.tables.trials import COLUMNS as OF_TRIALS
from dbdyno.tables.trials import IDENTITY, identity, times_us

COLUMNS = (
    *IDENTITY,
    Column("name", "text", "the workload's name of the operation"),
    Column("operation", "text", "logical operation: get, find, update …"),
    Column("table", "text", "its table"),
    Column("count", "whole", "how many completed in the measured seconds"),
    Column("errors", "whole", "how many failed, warm-up included"),
    Column("conflicts", "whole", "how often it was tried again because of another transaction"),
    *(column for column in OF_TRIALS if "_time_" in column.name),
)


def operations_of(runs: Sequence[Run]) -> Table:
    """Return the operations of the trials of runs."""
    return Table("operations", COLUMNS, (row for run in runs for row in _rows(run)))


def _rows(run: Run) -> list[list[Any]]:
    return [
        [*identity(run, trial), name, *_counted(operation), *times_us(operation)]
        for trial in document(run, timelines=False)["trials"]
        for name, operation in trial["operations"].items()
    ]


def _counted(operation: OperationDocument) -> tuple[Any, ...]:
    counts = operation["count"], operation["errors"], operation["conflicts"]
    return operation["operation"], operation["table"], *counts
