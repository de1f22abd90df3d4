"""Redis and Valkey."""

from dbdyno.systems.base import Family
from dbdyno.systems.redis.redis import AttachedRedis, Redis
from dbdyno.systems.redis.valkey import Valkey

FAMILY = Family((Redis, Valkey), attached=(AttachedRedis,))
