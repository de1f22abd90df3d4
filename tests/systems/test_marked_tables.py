"""Runs killed on somebody else's database: no table of its owner's is lost, and what they leave is found."""

from contextlib import closing

import psycopg
import pymongo
import pymysql
import pytest

from dbdyno.conduct.clean import clean
from dbdyno.experiment.system_spec import parse_system, with_labels
from dbdyno.systems.base import Launch
from dbdyno.systems.cassandra import cassandra
from dbdyno.systems.running.guard import Guard
from helpers import need, system, wait_until
from systems.killed import run, run_and_kill
from systems.load import begin, end, execute, plan_of, until_loading

MINE = "dbdyno_player"
"""A table of the owner's, of a name that a workload's has."""
LARGE = 100_000
"""Rows that take a while to load."""
DDL_TIMEOUT_S = 60.0
"""A new table of Cassandra's takes it a second, and a busy host several."""
MYSQL_WAITING = "SELECT COUNT(*) FROM information_schema.processlist WHERE state = 'Waiting for table metadata lock'"
POSTGRES_WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted"
IN_KEYSPACE = "SELECT table_name FROM system_schema.tables WHERE keyspace_name = 'mine'"


class Owners:
    """Somebody else's store.

    workloads: some that it has the operations of. qualifier: what names begin with that `clean` says.
    """

    workloads = ("point-get", "game", "insert-indexes", "durability")
    qualifier = ""

    def close(self):
        """Do nothing: the server is stopped with all that it holds."""


class OwnersSql(Owners):
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

    def comment(self, table, text):
        is_mysql = self.url.startswith("mysql")
        self.ask(f"ALTER TABLE {table} COMMENT = '{text}'" if is_mysql else f"COMMENT ON TABLE {table} IS '{text}'")

    def drop(self, table):
        self.ask(f"DROP TABLE {table}")

    def holds(self, table):
        rows = self.ask(f"SELECT id, note FROM {table}")
        return [tuple(map(str, row)) for row in rows] == [("1", "precious")]

    def tables(self):
        rows = self.ask("SELECT table_name FROM information_schema.tables WHERE table_name LIKE 'dbdyno%'")
        return sorted(name for (name,) in rows)


class OwnersMongodb(Owners):
    """The same of a database of collections."""

    def __init__(self, server, _):
        self.server, endpoint = server, server.endpoint
        login = f"{endpoint.user}:{endpoint.password}@" if endpoint.password else ""
        self.url = f"mongodb://{login}{endpoint.host}:{endpoint.port}/{endpoint.database}"
        self.database = pymongo.MongoClient(f"mongodb://{login}{endpoint.host}:{endpoint.port}")[endpoint.database]

    def make(self, table):
        self.database[table].insert_one({"_id": 1, "note": "precious"})

    def comment(self, table, text):
        self.database["dbdyno_marker"].insert_one({"_id": table, "marker": text})

    def drop(self, table):
        self.database[table].drop()

    def holds(self, table):
        return list(self.database[table].find()) == [{"_id": 1, "note": "precious"}]

    def tables(self):
        return sorted(self.database.list_collection_names())


class OwnersCassandra(Owners):
    """The same of a keyspace, which is made for one test: its server takes long to start."""

    workloads = ("point-get", "game", "insert-indexes")
    qualifier = "mine."

    def __init__(self, server, _):
        endpoint = server.endpoint
        self.url = f"cassandra://{endpoint.user}:{endpoint.password}@{endpoint.host}:{endpoint.port}/mine"
        self.server = system(self.url)
        self._cluster, self._session = cassandra._views().connect(endpoint, DDL_TIMEOUT_S)
        self.ask("CREATE KEYSPACE mine WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")

    def ask(self, statement):
        return [tuple(row.values()) for row in self._session.execute(statement)]

    def make(self, table):
        self.ask(f"CREATE TABLE mine.{table} (id int PRIMARY KEY, note text)")
        self.ask(f"INSERT INTO mine.{table} (id, note) VALUES (1, 'precious')")

    def comment(self, table, text):
        self.ask(f"ALTER TABLE mine.{table} WITH comment = '{text}'")

    def drop(self, table):
        self.ask(f"DROP TABLE mine.{table}")

    def holds(self, table):
        return self.ask(f"SELECT id, note FROM mine.{table}") == [(1, "precious")]

    def tables(self):
        return sorted(name for (name,) in self.ask(IN_KEYSPACE))

    def close(self):
        self.ask("DROP KEYSPACE mine")
        self._cluster.shutdown()


@pytest.fixture(scope="module")
def cassandra_server(tmp_path_factory):
    """One Cassandra for all tests of this module."""
    need("cassandra")
    with Guard() as guard:
        server = system("cassandra?heap=512M&authenticator=PasswordAuthenticator")
        try:
            server.start(Launch(guard, tmp_path_factory.mktemp("cassandra"), clients=8, rows=LARGE))
            yield server
        finally:
            server.stop()


@pytest.fixture(
    params=[
        ("mariadb", "mysql", OwnersSql),
        ("postgresql", "postgresql", OwnersSql),
        pytest.param(("ferretdb", "mongodb", OwnersMongodb), marks=pytest.mark.systems),
        pytest.param(
            ("cassandra", "cassandra", OwnersCassandra), marks=[pytest.mark.systems, pytest.mark.timeout(600)]
        ),
    ],
    ids=lambda param: param[0],
)
def store(request, started):
    """Be on a database that is somebody else's."""
    name, scheme, owners = request.param
    server = request.getfixturevalue("cassandra_server") if name == "cassandra" else started(name)
    with closing(owners(server, scheme)) as store:
        yield store


def cleaned(store):
    """Remove what dbdyno left there, all of it at once; returns the names of that."""
    (spec,) = with_labels([parse_system(store.url)])
    removed = sorted(name.removeprefix(store.qualifier) for name in clean(spec).removed)
    assert clean(spec).removed == []
    return removed


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
    for workload in store.workloads:
        left_by(store, workload, workload)
    made = [name for name in store.tables() if name not in (*before, "dbdyno_marker")]
    assert len(made) > len(store.workloads) and cleaned(store) == made
    assert store.holds("dbdyno_mine") and store.tables() == before


def test_a_load_that_is_killed_leaves_what_its_marker_names(store):
    store.make(MINE)
    process = begin(store.server, plan_of(None, "point-get", ["prepare", "load"], LARGE))
    until_loading(process)
    process.kill()
    end(process)
    assert cleaned(store) == ["dbdyno_bm"]
    assert store.holds(MINE) and store.tables() == [MINE]


def test_of_a_killed_run_with_fewer_rows_the_next_leaves_nothing(store, tmp_path):
    store.make(MINE)
    run_and_kill(store.url, "point-get", 100, tmp_path)
    assert run(store.url, "point-get", 5000, tmp_path) == (0, "")
    assert store.holds(MINE) and store.tables() == [MINE]
    assert cleaned(store) == []


def test_a_table_of_its_owners_in_the_place_of_dbdynos_is_neither_dropped_nor_filled(store, tmp_path):
    store.make("dbdyno_bm")
    for rows in (100, 5000):
        status, err = run(store.url, "point-get", rows, tmp_path)
        assert status != 0 and "dbdyno_bm without dbdyno's marker" in err
    assert cleaned(store) == []
    assert store.holds("dbdyno_bm") and store.tables() == ["dbdyno_bm"]


def test_a_table_whose_comment_begins_with_dbdynos_name_is_its_owners(store, tmp_path):
    store.make("dbdyno_bm")
    store.comment("dbdyno_bm", "dbdyno: what we measured")
    before = store.tables()
    assert cleaned(store) == []
    status, err = run(store.url, "point-get", 100, tmp_path)
    assert status != 0 and "dbdyno_bm without dbdyno's marker" in err
    assert store.holds("dbdyno_bm") and store.tables() == before


@pytest.mark.parametrize(("name", "scheme"), [("mariadb", "mysql"), ("postgresql", "postgresql")])
def test_a_marked_table_of_another_name_is_dropped_alone(name, scheme, started):
    """The names of tables are chosen by everybody who may make some there."""
    with closing(OwnersSql(started(name), scheme)) as store:
        store.make(MINE)
        left_by(store, "point-get")
        quote, odd = ("`" if scheme == "mysql" else '"'), f"dbdyno_it's, {MINE}"
        store.ask(f"ALTER TABLE dbdyno_bm RENAME TO {quote}{odd}{quote}")
        assert cleaned(store) == [odd]
        assert store.holds(MINE) and store.tables() == [MINE]
        store.drop(MINE)


@pytest.mark.systems
def test_on_a_server_without_backslash_escapes_clean_finds_what_is_left(started):
    """MariaDB, and MySQL before 8.0, escape by a backslash in LIKE all the same."""
    with closing(OwnersSql(started("mysql@8.0?sql_mode=NO_BACKSLASH_ESCAPES"), "mysql")) as store:
        left_by(store, "point-get")
        assert cleaned(store) == ["dbdyno_bm"]
        assert store.tables() == []


@pytest.mark.parametrize(
    ("name", "scheme", "reading", "waiting"),
    [
        ("mariadb", "mysql", "LOCK TABLES dbdyno_bm READ; UNLOCK TABLES", MYSQL_WAITING),
        ("postgresql", "postgresql", "BEGIN; LOCK TABLE dbdyno_bm IN ACCESS SHARE MODE; COMMIT", POSTGRES_WAITING),
    ],
)
def test_two_cleans_at_once_both_succeed(name, scheme, reading, waiting, started):
    with closing(OwnersSql(started(name), scheme)) as store:
        left_by(store, "point-get")
        *before, after = reading.split("; ")
        for statement in before:
            store.ask(statement)
        both = [begin(store.server, plan_of(None, "point-get", ["cleanup"]) | {"workload": None}) for _ in range(2)]
        # Both have read the marker before either drops the table.
        wait_until(lambda: store.ask(waiting)[0][0] == len(both))
        store.ask(after)
        assert [end(process).status for process in both] == [0, 0]
        assert store.tables() == []


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


def test_an_index_of_its_owners_is_not_taken_for_one_of_dbdynos(started, tmp_path):
    """PostgreSQL's indexes have names within the database, those of MariaDB within their table."""
    with closing(OwnersSql(started("postgresql"), "postgresql")) as store:
        store.make(MINE)
        store.ask(f"CREATE INDEX dbdyno_bm_sid ON {MINE} (note)")
        status, err = run(store.url, "secondary-get", 100, tmp_path)
        assert status != 0 and 'relation "dbdyno_bm_sid" already exists' in err
        cleaned(store)
        assert store.ask(f"SELECT indexname FROM pg_indexes WHERE tablename = '{MINE}' AND indexname ~ 'sid'")
        store.drop(MINE)


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
