"""The libraries that a plan names drive its store, or are refused."""

import io
import json

import pytest

from dbdyno.load_python.driver import find_driver
from dbdyno.load_python.failure import Ended
from dbdyno.load_python.plan import read_plan
from load_python.conftest import plan_of
from load_python.libraries.checks import GAME

MYSQL = {"kind": "mysql", "address": {"host": "h", "port": 1}, "user": "u", "password": None, "database": "d"}
MEMCACHED = {"kind": "memcached", "address": {"host": "h", "port": 2}}
BEHIND = {"kind": "cache-aside", "cache": MEMCACHED, "store": MYSQL}


def driver(store, **keys):
    return find_driver(read_plan(io.StringIO(json.dumps(plan_of(store, "game", **keys)) + "\n\n")), GAME)


def test_a_store_has_one_library_and_one_behind_a_cache_two():
    single = driver(MYSQL, library="pymysql")
    assert single.version.startswith("PyMySQL") and not single.is_encoded
    pair = driver(BEHIND, library="pymysql", cache_library="pymemcache")
    assert pair.version.startswith("pymemcache") and pair.version.endswith(f" + {single.version}")
    assert pair.is_encoded and pair.layout is None


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"library": "pymysql"}, "cache-aside takes two libraries: cache_library is missing"),
        ({"library": "pymysql", "cache_library": "redis-py"}, "redis-py does not speak to memcached: pymemcache does"),
        ({"library": "psycopg", "cache_library": "pymemcache"}, "psycopg does not speak to mysql"),
    ],
)
def test_libraries_that_do_not_fit_are_refused(keys, said):
    with pytest.raises(Ended, match=said) as refused:
        driver(BEHIND, **keys)
    assert refused.value.status == "refused"
