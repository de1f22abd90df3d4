"""Systems made of other systems: caches in front, clusters, replicas."""

from dbdyno.systems.arrangements.cache_aside import CacheAside
from dbdyno.systems.arrangements.copy import Copy
from dbdyno.systems.arrangements.galera import Galera
from dbdyno.systems.arrangements.replicated import Replicated
from dbdyno.systems.arrangements.result_cache import ResultCache
from dbdyno.systems.arrangements.spider import Spider
from dbdyno.systems.arrangements.spread import Spread
from dbdyno.systems.arrangements.via import Via
from dbdyno.systems.base import Family

FAMILY = Family((Galera, CacheAside, ResultCache, Spread, Replicated, Via, Copy), variants=(Spider,))
