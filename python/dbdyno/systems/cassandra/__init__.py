"""Cassandra."""

from dbdyno.systems.base import Family
from dbdyno.systems.cassandra.cassandra import AttachedCassandra, Cassandra

FAMILY = Family((Cassandra,), attached=(AttachedCassandra,))
