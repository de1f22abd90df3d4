"""A whole table in chDB, through its Python module; runs in a child process (`child_analyst.py`)."""

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from dbdyno.analytics.table import Table
from dbdyno.systems.analytic import clickhouse_table


class ChDBAnalyst:
    """A session on the data in `folder`, of the module that is in `library`."""

    by = "INSERT … SELECT from file()"

    def __init__(self, folder: Path, library: Path, settings: dict[str, int]) -> None:
        sys.path.insert(0, str(library))
        self._data = folder / "data"
        self._session = import_module("chdb.session").Session(str(self._data))
        given = {"max_threads": settings["threads"], "max_memory_usage": settings["memory_limit_mib"] << 20}
        for key, value in given.items():
            if value:
                self._session.query(f"SET {key} = {value}")

    def create(self, table: Table) -> None:
        self.ask(clickhouse_table.create(table))

    def load(self, table: Table, paths: Sequence[Path]) -> None:
        # A batch lies in one folder; of names in braces only the last part of a path may consist.
        names = ",".join(path.name for path in paths)
        files = paths[0].parent / (f"{{{names}}}" if len(paths) > 1 else names)
        self.ask(
            f"INSERT INTO {table.name} SELECT {clickhouse_table.converted(table)} FROM file('{files}', 'CSV', "
            f"'{clickhouse_table.lines(table)}') SETTINGS input_format_csv_skip_first_lines = 1"
        )

    def finish(self, table: Table) -> int:
        (size,) = self.ask(
            f"SELECT SUM(bytes_on_disk) FROM system.parts WHERE active AND table = '{table.name}' "
            "SETTINGS output_format_json_quote_64bit_integers = 0"
        )[0]
        return int(size)

    def ask(self, sql: str) -> Sequence[Sequence[Any]]:
        return clickhouse_table.rows(str(self._session.query(sql, "JSONCompact")))

    def close(self) -> None:
        self._session.close()
