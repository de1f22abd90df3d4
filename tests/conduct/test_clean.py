"""Cleaning gives a load client the one phase, on somebody else's store only, and leaves there what was there before."""

import pymongo
import pytest

from dbdyno.conduct.clean import Cleaned, clean
from dbdyno.errors import RunFailed, UserError
from dbdyno.experiment.system_spec import parse_system, with_labels
from dbdyno.load_sysbench.database import DATABASE
from dbdyno.systems import ATTACHED
from dbdyno.systems.cassandra import cassandra
from helpers import need, need_program, system
from load_sysbench.conftest import executed, plan_of
from systems.load import ROWS, execute

large = pytest.mark.systems


def spec(text):
    return with_labels([parse_system(text)])[0]


@pytest.fixture
def fake_url(monkeypatch, fake_system):
    monkeypatch.setitem(ATTACHED, "fake", fake_system)
    monkeypatch.setattr(fake_system, "store_plan", lambda self, secrets: {"kind": "fake"})
    return spec("fake://host")


def test_it_is_told_to_clean_up_and_nothing_else(fake_url, fake_load, fake_system):
    fake_load(refuse="run")
    assert clean(fake_url) == Cleaned()
    assert fake_system.calls == ["start", "stop"]


def test_a_dry_run_is_told_to_list_and_nothing_else(fake_url, fake_load):
    fake_load(refuse="list")
    with pytest.raises(RunFailed, match="fake://host: not everything could be listed"):
        clean(fake_url, dry_run=True)


def test_what_could_not_be_removed_is_told(fake_url, fake_load, fake_system):
    fake_load(refuse="cleanup", only_if='"workload": null')
    with pytest.raises(RunFailed, match="fake://host: not everything could be removed"):
        clean(fake_url)
    assert fake_system.calls[-1] == "stop"


def test_what_dbdyno_starts_itself_is_not_cleaned():
    with pytest.raises(UserError, match="'mariadb' is not a URL"):
        clean(spec("mariadb"))


def in_mysql(server, make):
    if make:
        server._query("CREATE TABLE dbdyno_foreign (id INT PRIMARY KEY)")
    return server._query("SELECT table_schema, table_name FROM information_schema.tables"), server._query(
        "SELECT user, host FROM mysql.user"
    )


def in_postgresql(server, make):
    if make:
        server._query("SELECT lo_create(1)")
    asked = (
        "datname FROM pg_database",
        "rolname FROM pg_roles",
        "relname FROM pg_class",
        "oid FROM pg_largeobject_metadata",
    )
    return [server._query(f"SELECT {selection} ORDER BY 1") for selection in asked]


def in_redis(server, make):
    client = server._client()
    if make:
        client.set("dbdyno:foreign", "here")
    return sorted(client.keys("*"))


def in_memcached(server, make):
    del make
    return server._stats()["curr_items"]


def in_mongodb(server, make):
    with pymongo.MongoClient(server.endpoint.host, server.endpoint.port) as client:
        if make:
            client.mine.dbdyno_foreign.insert_one({"here": True})
        there = {name: sorted(client[name].list_collection_names()) for name in client.list_database_names()}
    # FerretDB keeps a database whose last collection is dropped, and MongoDB does not.
    return {name: collections for name, collections in there.items() if collections}


def in_cassandra(server, make):
    replication = "{'class': 'SimpleStrategy', 'replication_factor': 1}"
    foreign = (
        f"CREATE KEYSPACE mine WITH replication = {replication}",
        "CREATE TABLE mine.dbdyno_foreign (id int PRIMARY KEY)",
    )
    tables = "SELECT keyspace_name, table_name FROM system_schema.tables"
    return cassandra._views().ask(server.endpoint, *foreign * make, tables)[-1]


@pytest.mark.parametrize(
    ("name", "scheme", "there", "removed"),
    [
        ("mariadb", "mysql", in_mysql, ["dbdyno_bm", DATABASE]),
        ("postgresql", "postgresql", in_postgresql, ["dbdyno_bm", DATABASE]),
        ("redis", "redis", in_redis, ["dbdyno:bm:*"]),
        ("memcached", "memcached", in_memcached, ["dbdyno:bm:*"]),
        pytest.param("tidb", "mysql", in_mysql, ["dbdyno_bm", DATABASE], marks=large),
        pytest.param("ferretdb", "mongodb", in_mongodb, ["dbdyno_bm"], marks=large),
        pytest.param("cassandra?heap=512M", "cassandra", in_cassandra, ["dbdyno_data.dbdyno_bm"], marks=large),
    ],
)
def test_on_a_real_server_there_is_then_what_was_there_before(name, scheme, there, removed, launch):
    need(name.partition("?")[0])
    server = system(name)
    try:
        server.start(launch)
        before = there(server, True)
        # As a run leaves it that is killed.
        assert execute(server, "point-get", ["prepare", "load"], ROWS).status == 0
        if DATABASE in removed:
            need_program("sysbench", "sysbench")
            secrets = []
            made = plan_of(server.store_plan(secrets) | {"database": DATABASE}, ("prepare",))
            assert executed(made, secrets)[-1]["status"] == "complete"
        assert there(server, False) != before
        endpoint = server.endpoint
        login = f"{endpoint.user or ''}:{endpoint.password}@" if endpoint.password else ""
        url = spec(f"{scheme}://{login}{endpoint.host}:{endpoint.port}/{endpoint.database}")
        left = there(server, False)
        assert clean(url, dry_run=True).removed == removed and there(server, False) == left
        assert clean(url).removed == removed and clean(url).removed == []
        assert clean(url, dry_run=True).removed == []
        assert there(server, False) == before
    finally:
        server.stop()
