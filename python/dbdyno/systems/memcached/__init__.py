"""memcached."""

from dbdyno.systems.base import Family
from dbdyno.systems.memcached.memcached import AttachedMemcached, Memcached

FAMILY = Family((Memcached,), attached=(AttachedMemcached,))
