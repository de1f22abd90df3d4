"""Servers of the MongoDB protocol: FerretDB, and any that is attached."""

from dbdyno.systems.base import Family
from dbdyno.systems.mongodb.ferretdb import FerretDB
from dbdyno.systems.mongodb.mongodb import AttachedMongoDB

FAMILY = Family((FerretDB,), attached=(AttachedMongoDB,))
