"""A whole table in DuckDB, through its Python client."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

from dbdyno.analytics.table import Column, Table
from dbdyno.errors import UserError
from dbdyno.systems.analyst import Analyst

_TYPES = {"integer": "INTEGER", "tiny": "TINYINT", "date": "DATE", "text": "VARCHAR", "char": "VARCHAR"}

_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")


def _definition(column: Column) -> str:
    return f'"{column.name}" {_TYPES[column.kind]}'


def _is_same(given: int | str, effective: int | str) -> bool:
    """Return whether DuckDB has what was given; sizes it shows in the largest unit, with one decimal."""
    if isinstance(given, int) or isinstance(effective, int):
        return given == effective
    number, unit = effective.split()
    in_unit = int(given.removesuffix("MiB")) * 2**20 / (1 << 10 * _UNITS.index(unit))
    return abs(in_unit - float(number)) <= 0.1


class DuckDBAnalyst(Analyst):
    """A connection to the database file in `folder`, opened anew, so that nothing of it is in DuckDB's memory."""

    error = (duckdb.Error,)
    by = "INSERT … SELECT from read_csv"

    def __init__(self, folder: Path, settings: dict[str, int]) -> None:
        given: dict[str, int | str] = {
            "threads": settings["threads"],
            "memory_limit": f"{settings['memory_limit_mib']}MiB",
        }
        config: dict[str, str | bool | int | float | list[str]] = {
            key: value for key, value in given.items() if str(value).strip("MiB") != "0"
        }
        self._path = folder / "dbdyno.duckdb"
        config["temp_directory"] = str(folder / "spill")
        try:
            self._connection = duckdb.connect(str(self._path), config=config)
        except duckdb.Error as error:
            raise UserError(f"duckdb: {error}") from None
        for name in config.keys() & given.keys():
            effective = self.ask(f"SELECT current_setting('{name}')")[0][0]
            if not _is_same(given[name], effective):
                self.close()
                raise UserError(f"duckdb: {name} = {given[name]} was given, and DuckDB has {effective}")

    def create(self, table: Table) -> None:
        self._connection.execute(f"CREATE TABLE {table.name} ({', '.join(map(_definition, table.columns))})")

    def load(self, table: Table, paths: Sequence[Path]) -> None:
        columns = ", ".join(f"'{column.name}': '{_TYPES[column.kind]}'" for column in table.columns)
        named = ", ".join(f'"{column.name}"' for column in table.columns)
        self._connection.execute(
            f"INSERT INTO {table.name} SELECT {named} FROM read_csv(?, header = true, auto_detect = false, "
            f"delim = ',', quote = '\"', escape = '\"', nullstr = '', columns = {{{columns}, 'the_end': 'VARCHAR'}})",
            [[str(path) for path in paths]],
        )

    def finish(self, table: Table) -> int:
        del table
        self._connection.execute("CHECKPOINT")
        return self._path.stat().st_size

    def ask(self, sql: str) -> Sequence[Sequence[Any]]:
        return self._connection.execute(sql).fetchall()

    def cancel(self) -> None:
        self._connection.interrupt()

    def close(self) -> None:
        self._connection.close()
