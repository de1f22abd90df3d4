"""Stores for whole tables: column stores as libraries and as servers."""

from dbdyno.systems.analytic.chdb import ChDB
from dbdyno.systems.analytic.clickhouse import ClickHouse
from dbdyno.systems.analytic.duckdb import DuckDB
from dbdyno.systems.analytic.monetdb import MonetDB
from dbdyno.systems.base import Family

FAMILY = Family((DuckDB, ChDB, MonetDB, ClickHouse))
