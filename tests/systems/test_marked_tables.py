"""Runs killed on somebody else's database: no table of its owner's is lost, and what they leave is found."""

import psycopg
import pymongo
import pymysql
import pytest

from dbdyno.conduct.clean import clean
from dbdyno.experiment.system_spec import parse_system, with_labels
from systems.killed import run, run_and_kill
from systems.load import execute

MINE = "dbdyno_player"
"""A table of the owner's, of a name that a workload's has."""


class OwnersSql:
    """A database as its owner sees it."""

    def __init__(self, server, scheme):
        self.server, endpoint = server, server.endpoint
        self.url = f"{scheme}://{endpoint.user}:{endpoint.password}@{endpoint.host}:{endpoint.port}/{endpoint.database}"
        login = {"host": endpoint.host, "port": endpoint.port, "user": endpoint.user, "password": endpoint.password}
        if scheme == "mysql":
            self._connection = pymysql.connect(database=endpoint.database, autocommit=True, **login)
        else:
            self._connection = psycopg.connect(dbname=endpoint.database, autocommit=True, **login)

    def ask(self, statement):
        with self._connection.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def make(self, table):
        self.ask(f"CREATE TABLE {table} (id INT PRIMARY KEY, note VARCHAR(20))")
        self.ask(f"INSERT INTO {table} VALUES (1, 'precious')")

    def drop(self, table):
        self.ask(f"DROP TABLE {table}")

    def holds(self, table):
        rows = self.ask(f"SELECT id, note FROM {table}")
        return [tuple(map(str, row)) for row in rows] == [("1", "precious")]

    def tables(self):
        rows = self.ask("SELECT table_name FROM information_schema.tables WHERE table_name LIKE 'dbdyno%'")
        return sorted(name for (name,) in rows)


class OwnersMongodb:
    """The same of a database of collections."""

    def __init__(self, server, _):
        self.server, endpoint = server, server.endpoint
        login = f"{endpoint.user}:{endpoint.password}@" if endpoint.password else ""
        self.url = f"mongodb://{login}{endpoint.host}:{endpoint.port}/{endpoint.database}"
        self.database = pymongo.MongoClient(f"mongodb://{login}{endpoint.host}:{endpoint.port}")[endpoint.database]

    def make(self, table):
        self.database[table].insert_one({"_id": 1, "note": "precious"})

    def drop(self, table):
        self.database[table].drop()

    def holds(self, table):
        return list(self.database[table].find()) == [{"_id": 1, "note": "precious"}]

    def tables(self):
        return sorted(self.database.list_collection_names())


@pytest.fixture(
    params=[
        ("mariadb", "mysql", OwnersSql),
        ("postgresql", "postgresql", OwnersSql),
        pytest.param(("ferretdb", "mongodb", OwnersMongodb), marks=pytest.mark.systems),
    ],
    ids=lambda param: param[0],
)
def store(request, started):
    """Be on a database that is somebody else's."""
    name, scheme, owners = request.param
    return owners(started(name), scheme)


def cleaned(store):
    """Remove what dbdyno left there; returns the names of that."""
    (spec,) = with_labels([parse_system(store.url)])
    return sorted(clean(spec).removed)


def left_by(store, workload, run_id="killed"):
    """Leave what a run leaves that is killed when it has loaded its rows."""
    assert execute(store.server, workload, ["prepare", "load"], 100, run_id=run_id).status == 0


def test_a_table_that_is_not_of_a_killed_run_is_not_dropped(store, tmp_path):
    store.make(MINE)
    run_and_kill(store.url, "point-get", 100, tmp_path)
    status, err = run(store.url, "game", 100, tmp_path)
    assert status != 0 and f"{MINE} without dbdyno's marker" in err
    cleaned(store)
    assert store.holds(MINE) and store.tables() == [MINE]


def test_of_a_killed_run_with_more_rows_nothing_is_left(store, tmp_path):
    store.make(MINE)
    run_and_kill(store.url, "point-get", 5000, tmp_path)
    assert run(store.url, "point-get", 100, tmp_path) == (0, "")
    assert cleaned(store) == []
    assert store.holds(MINE) and store.tables() == [MINE]


def test_after_a_killed_run_of_each_workload_clean_removes_all_of_them(store):
    store.make("dbdyno_mine")
    before = store.tables()
    for workload in ("point-get", "game", "insert-indexes", "durability"):
        left_by(store, workload, workload)
    made = [name for name in store.tables() if name not in (*before, "dbdyno_marker")]
    assert len(made) >= 5 and cleaned(store) == made
    assert store.holds("dbdyno_mine") and store.tables() == before


def test_a_table_that_took_the_place_of_a_marked_one_is_not_dropped(store):
    left_by(store, "point-get")
    store.drop("dbdyno_bm")
    store.make("dbdyno_bm")
    done = execute(store.server, "point-get", ["prepare"])
    assert done.status == 2 and "dbdyno_bm without dbdyno's marker" in done.of("end")[0]["reason"]
    assert cleaned(store) == []
    assert store.holds("dbdyno_bm")


def test_rows_are_not_loaded_into_a_table_without_a_marker(store):
    store.make("dbdyno_bm")
    done = execute(store.server, "point-get", ["load"])
    assert done.status == 2 and "was not prepared" in done.of("end")[0]["reason"]
    assert store.holds("dbdyno_bm")


@pytest.mark.systems
def test_a_collection_whose_marker_was_written_before_it_is_dropped_only_if_it_is_empty(started):
    """As a run leaves it that is killed between the marker and the collection."""
    store = OwnersMongodb(started("ferretdb"), "mongodb")
    for is_mine in (True, False):
        left_by(store, "point-get")
        store.drop("dbdyno_bm")
        store.database.dbdyno_marker.update_one({"_id": "dbdyno_bm"}, {"$set": {"identity": ""}})
        store.make("dbdyno_bm") if is_mine else store.database.create_collection("dbdyno_bm")
        assert cleaned(store) == [[], ["dbdyno_bm"]][not is_mine]
        assert store.tables() == (["dbdyno_bm"] if is_mine else [])
        store.drop("dbdyno_bm")


@pytest.mark.systems
def test_a_marker_of_a_version_without_identities_is_understood(started):
    store = OwnersMongodb(started("ferretdb"), "mongodb")
    left_by(store, "point-get")
    store.database.dbdyno_marker.update_one({"_id": "dbdyno_bm"}, {"$unset": {"identity": ""}})
    assert cleaned(store) == ["dbdyno_bm"]
    assert store.tables() == []
