"""Stores that run inside the load client."""

from dbdyno.systems.base import Family
from dbdyno.systems.embedded.kyotocabinet import KyotoCabinet
from dbdyno.systems.embedded.lmdb import LMDB
from dbdyno.systems.embedded.rocksdb import RocksDB
from dbdyno.systems.embedded.sqlite import SQLite
from dbdyno.systems.embedded.tkrzw import Tkrzw
from dbdyno.systems.embedded.tokyocabinet import TokyoCabinet

FAMILY = Family((SQLite, LMDB, RocksDB, TokyoCabinet, KyotoCabinet, Tkrzw))
