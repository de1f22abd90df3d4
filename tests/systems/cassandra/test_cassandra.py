"""A real private Cassandra, and the same attached to by its URL."""

import pytest

from dbdyno.conduct.clean import Cleaned, clean
from dbdyno.errors import UserError
from dbdyno.experiment.password import VARIABLE as PASSWORD_VARIABLE
from dbdyno.systems.base import Launch
from dbdyno.systems.cassandra import cassandra
from dbdyno.systems.cassandra.cassandra import durability_of, is_accepted
from dbdyno.systems.running.guard import Guard
from helpers import need, system
from systems.killed import run, run_and_kill
from systems.load import ROWS, execute, rows_read

# Its server takes longer to start than most tests may last.
slow = pytest.mark.timeout(600)
OWNERS = "dbdyno_mine"
"""A keyspace of the server's owner, named as dbdyno's tables are."""
KEYSPACES = "SELECT keyspace_name FROM system_schema.keyspaces"
CREATION = "CREATE KEYSPACE {} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}}"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """One server for all that does not change how it is started; with a password."""
    need("cassandra")
    with Guard() as guard:
        launch = Launch(guard, tmp_path_factory.mktemp("cassandra"), clients=8, rows=2 * ROWS)
        cassandra = system("cassandra?heap=512M&authenticator=PasswordAuthenticator&commitlog_sync=batch")
        try:
            cassandra.start(launch)
            yield cassandra
        finally:
            cassandra.stop()


def url_of(server, keyspace=OWNERS):
    return f"cassandra://cassandra:cassandra@127.0.0.1:{server.endpoint.port}/{keyspace}"


@slow
@pytest.mark.systems
def test_it_has_the_settings_it_was_given(server):
    (server_document,) = server.servers()
    assert server_document["version"] == "5.0.2" and server_document["effective_settings"]["commitlog_sync"] == "batch"
    assert {"commitlog_sync", "read_request_timeout"} <= server.all_settings()["cassandra"].keys()
    assert server.durability().level == "D2"
    assert server.data_directories()[0].exists() and set(server.server_pids()) == {"cassandra"}


@slow
@pytest.mark.systems
def test_rows_that_are_not_there_are_missing_in_a_pipeline_too_and_a_load_goes_on(server):
    assert execute(server, "point-get", ["prepare", "load"]).status == 0
    done = execute(server, "point-get", ["run"], 2 * ROWS, pipeline=16)
    (total,) = done.of("total")
    assert done.errors() == {"missing"} and total["reads_verified"] > 0 and total["mismatches"] == 0
    again = execute(server, "point-get", ["load", "cleanup"])
    loaded = next(phase for phase in again.of("phase") if phase["phase"] == "load" and phase["state"] == "end")
    assert (again.status, loaded["rows"]) == (0, ROWS)


@pytest.fixture
def owner(server):
    """Return a function by which the server's owner executes CQL, with an empty keyspace OWNERS."""
    cluster, session = cassandra._views().connect(server.endpoint, timeout_s=60)
    session.execute(CREATION.format(OWNERS))
    yield lambda statement: list(session.execute(statement))
    session.execute(f"DROP KEYSPACE {OWNERS}")
    cluster.shutdown()


def tables_of(owner):
    """Return the tables of the keyspace OWNERS; raises if it is not there."""
    ((keyspace,),) = (row.values() for row in owner(f"{KEYSPACES} WHERE keyspace_name = '{OWNERS}'"))
    rows = owner(f"SELECT table_name FROM system_schema.tables WHERE keyspace_name = '{keyspace}'")
    return sorted(row["table_name"] for row in rows)


def cleaned(server, dry_run=False):
    return clean(system(url_of(server)).spec, dry_run)


def flowed(text):
    return " ".join(text.split())


@slow
@pytest.mark.systems
@pytest.mark.parametrize("login", ["cassandra:wrongpw@", "nobody:wrongpw@", "cassandra@", ""])
def test_who_is_not_let_in_is_told_so_without_the_password(server, started, login, monkeypatch):
    monkeypatch.delenv(PASSWORD_VARIABLE, raising=False)
    with pytest.raises(UserError, match="check the user and the password in the URL or in") as caught:
        started(f"cassandra://{login}127.0.0.1:{server.endpoint.port}/{OWNERS}")
    assert "wrongpw" not in str(caught.value)


@slow
@pytest.mark.systems
def test_who_has_the_password_in_the_environment_is_let_in(server, owner, started, monkeypatch):
    monkeypatch.setenv(PASSWORD_VARIABLE, "cassandra")
    assert rows_read(started(f"cassandra://cassandra@127.0.0.1:{server.endpoint.port}/{OWNERS}")) > 0


@slow
@pytest.mark.systems
def test_attached_it_is_read_and_foreign_tables_stay(server, owner, started):
    attached = started(url_of(server) + "?consistency=QUORUM")
    assert attached.servers() == server.servers() and attached.server_pids() == {}
    assert attached.store_plan([])["consistency"] == "QUORUM"
    owner(f"CREATE TABLE {OWNERS}.dbdyno_bm (id int PRIMARY KEY)")
    done = execute(attached, "point-get", ["prepare"])
    assert done.status == 2 and "without dbdyno's marker" in done.of("end")[0]["reason"]


@slow
@pytest.mark.systems
def test_a_keyspace_that_is_not_there_is_refused_with_the_command_that_makes_it(server, tmp_path):
    (before,) = server._ask(KEYSPACES)
    status, err = run(url_of(server, "nobodys"), "point-get", 100, tmp_path)
    assert status == 2 and "there is no keyspace nobodys; create it: " + CREATION.format("nobodys") in flowed(err)
    status, err = run(url_of(server, ""), "point-get", 100, tmp_path)
    assert status == 2 and "create it: " + CREATION.format("dbdyno_data") in flowed(err)
    assert server._ask(KEYSPACES) == [before] and not list(tmp_path.iterdir())


@slow
@pytest.mark.systems
def test_after_killed_runs_of_two_workloads_clean_removes_their_tables_alone(server, owner, tmp_path):
    run_and_kill(url_of(server), "point-get", 5000, tmp_path / "larger")
    run_and_kill(url_of(server), "game", 100, tmp_path / "smaller")
    there = tables_of(owner)
    made = [f"{OWNERS}.{name}" for name in there]
    assert len(made) == 3
    assert cleaned(server, dry_run=True).removed == made and tables_of(owner) == there
    assert cleaned(server).removed == made and cleaned(server) == Cleaned()
    assert tables_of(owner) == []


@slow
@pytest.mark.systems
def test_a_run_after_a_killed_one_with_more_rows_leaves_the_keyspace_as_it_was(server, owner, tmp_path):
    owner(f"CREATE TABLE {OWNERS}.dbdyno_player (id int PRIMARY KEY, note text)")
    owner(f"INSERT INTO {OWNERS}.dbdyno_player (id, note) VALUES (1, 'precious')")
    run_and_kill(url_of(server), "point-get", 5000, tmp_path)
    assert run(url_of(server), "point-get", 100, tmp_path) == (0, "")
    status, err = run(url_of(server), "game", 100, tmp_path)
    assert status != 0 and f"{OWNERS}.dbdyno_player without dbdyno's marker" in err
    assert cleaned(server) == Cleaned() and tables_of(owner) == ["dbdyno_player"]
    assert owner(f"SELECT note FROM {OWNERS}.dbdyno_player WHERE id = 1") == [{"note": "precious"}]


@slow
@pytest.mark.systems
def test_a_setting_it_does_not_know_is_said_in_its_words(launch):
    need("cassandra")
    cassandra = system("cassandra?heap=512M&bogus=1")
    with pytest.raises(UserError, match="bogus"):
        cassandra.start(launch)
    cassandra.stop()


@slow
@pytest.mark.systems
def test_a_home_elsewhere_starts_with_the_settings_of_a_file(started, tmp_path_factory):
    need("cassandra")
    home = system("cassandra").installation().folder
    file = tmp_path_factory.mktemp("conf") / "cassandra.yaml"
    file.write_text("# of production\nconcurrent_reads: 48\n")
    server = started(f"cassandra?home={home}&config={file}&heap=512M")
    (server_document,) = server.servers()
    assert (server.build.version, server_document["version"]) == ("5.0.2", "5.0.2")
    assert server.all_settings()["cassandra"]["concurrent_reads"] == "48" and rows_read(server) > 0


def test_a_file_that_says_where_the_node_is_is_refused(tmp_path):
    file = tmp_path / "cassandra.yaml"
    file.write_text("cluster_name: 'Test Cluster'\nseed_provider:\n  - class_name: a\nconcurrent_reads: 32\n")
    with pytest.raises(UserError, match="sets cluster_name, seed_provider, which dbdyno sets"):
        system(f"cassandra?config={file}")


def test_what_cannot_be_its_setting_is_refused():
    for level in ("MOST", "ANY"):
        with pytest.raises(UserError, match=f"consistency = '{level}': give one of ONE, TWO"):
            system(f"cassandra?consistency={level}")
    with pytest.raises(UserError, match="does not change 'concurrent_reads'"):
        system("cassandra://h/mine?concurrent_reads=1")
    with pytest.raises(UserError, match="the URL names no keyspace for dbdyno's tables"):
        system("cassandra://h")
    with pytest.raises(UserError, match="a keyspace of small letters"):
        system("cassandra://h/Mine")


def test_without_its_driver_it_says_how_to_get_it(monkeypatch, launch):
    monkeypatch.setattr(cassandra, "find_spec", lambda _: None)
    for text in ("cassandra", "cassandra://h/mine"):
        with pytest.raises(UserError, match="pip install 'dbdyno\\[cassandra\\]'"):
            system(text).start(launch)
    assert "cassandra-driver is not installed" in cassandra.Cassandra.missing()


def test_an_empty_jar_is_told_with_the_command_that_gets_it_anew(monkeypatch, tmp_path, launch):
    pytest.importorskip("cassandra")
    monkeypatch.setenv("DBDYNO_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(cassandra, "missing_java", lambda: None)
    jar = tmp_path / cassandra.Cassandra.package / "lib" / "snakeyaml.jar"
    jar.parent.mkdir(parents=True)
    jar.touch()
    (jar.parents[1] / ".complete").write_text('{"lib/snakeyaml.jar": 300000}')
    server = system("cassandra?heap=512M")
    with pytest.raises(UserError, match=r"cassandra@5.0 is broken: .*snakeyaml.jar is empty; `dbdyno systems install"):
        server.start(launch)
    server.stop()


def test_where_nobody_answers_it_is_said(launch):
    pytest.importorskip("cassandra")
    with pytest.raises(UserError, match="no server answers there"):
        system("cassandra://127.0.0.1:1/mine").start(launch)


@pytest.mark.parametrize(
    ("settings", "level"),
    [
        ({"commitlog_sync": "periodic", "commitlog_sync_period": "10000ms"}, "D1"),
        ({"commitlog_sync": "batch"}, "D2"),
        ({"commitlog_sync": "group"}, "D2"),
    ],
)
def test_durability(settings, level):
    assert durability_of(settings).level == level


def test_a_setting_is_accepted_as_it_was_written_and_a_class_with_its_package():
    assert is_accepted("512MiB", "512MiB") and is_accepted("true", "True")
    assert is_accepted("org.apache.cassandra.auth.PasswordAuthenticator", "PasswordAuthenticator")
    assert not is_accepted("64", "32")
