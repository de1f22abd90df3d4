"""Servers of the MongoDB protocol: MongoDB, FerretDB, and any that is attached."""

from dbdyno.systems.base import Family
from dbdyno.systems.mongodb.ferretdb import FerretDB
from dbdyno.systems.mongodb.mongod import MongoDB
from dbdyno.systems.mongodb.mongodb import AttachedMongoDB

FAMILY = Family((MongoDB, FerretDB), attached=(AttachedMongoDB,))
