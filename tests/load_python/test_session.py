"""The library that a plan asks for, and where its store is."""

import builtins
import sys

import pytest

from dbdyno.experiment.clients import LIBRARIES as MODULES
from dbdyno.load_python.failure import Ended
from dbdyno.load_python.libraries.pymysql import Session as PyMySQL
from dbdyno.load_python.session import LIBRARIES, batches, find_endpoint, find_library
from dbdyno.load_python.workloads import ACCOUNT, make_workload

REDIS = {"kind": "redis", "address": {"unix": "/s"}, "user": None, "password": None, "database": 3, "layout": "auto"}
MYSQL = {"kind": "mysql", "address": {"host": "h", "port": 3306}, "user": "u", "password": None, "database": "d"}


def test_a_library_that_fits_is_found():
    assert find_library("pymysql", "mysql", None) is PyMySQL


@pytest.mark.parametrize(
    ("library", "kind", "said"),
    [
        ("pymysq", "mysql", "there are pymysql, mysqlclient, psycopg, redis-py, pymemcache"),
        ("pymysql", "redis", "pymysql does not speak to redis: redis-py does"),
        ("pymysql", "lmdb", "pymysql does not speak to lmdb: only the native client does"),
    ],
)
def test_one_that_does_not_fit_is_refused(library, kind, said):
    with pytest.raises(Ended, match=said):
        find_library(library, kind, None)


@pytest.mark.parametrize(("library", "kind"), LIBRARIES.items())
def test_one_that_is_missing_says_how_to_get_it(library, kind, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("dbdyno.load_python.libraries.")]:
        monkeypatch.delitem(sys.modules, name)
    package = MODULES[library].module
    imported = builtins.__import__

    def without(name, *arguments, **keys):
        if name.split(".")[0] == package:
            raise ImportError(f"No module named '{package}'")
        return imported(name, *arguments, **keys)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(Ended, match=rf"{library} is not installed .*pip install 'dbdyno\[{library[:5]}"):
        find_library(library, kind, None)


@pytest.mark.parametrize(("workload", "layout"), [("game", "string"), ("point-update", "hash")])
def test_redis_holds_hashes_where_single_columns_change(workload, layout):
    endpoint = find_endpoint(REDIS, make_workload(workload, 10, {}), 5.0)
    assert (endpoint.layout, endpoint.socket, endpoint.database, endpoint.timeout_s) == (layout, "/s", "3", 5.0)


def test_a_place_has_the_password_of_the_plan():
    endpoint = find_endpoint(MYSQL | {"password": "open sesame"}, make_workload("game", 10, {}), 5.0)
    assert (endpoint.host, endpoint.port, endpoint.user, endpoint.password, endpoint.layout) == (
        "h",
        3306,
        "u",
        "open sesame",
        None,
    )


def test_batches_hold_every_row_once():
    assert [len(names) for names in batches(ACCOUNT, 5, size=2)] == [2, 2, 1]
    assert [name for names in batches(ACCOUNT, 3, size=2) for name in names] == [
        ACCOUNT.store_key_of(k) for k in (1, 2, 3)
    ]
