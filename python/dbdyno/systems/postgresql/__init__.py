"""PostgreSQL."""

from dbdyno.systems.base import Family
from dbdyno.systems.postgresql.pgbouncer import PgBouncer
from dbdyno.systems.postgresql.postgresql import AttachedPostgreSQL, PostgreSQL

FAMILY = Family((PostgreSQL,), attached=(AttachedPostgreSQL,), parts=(PgBouncer,))
