"""A primary and its replica, real ones."""

import pytest

from dbdyno.errors import UserError
from dbdyno.systems.mysql.client import ask
from dbdyno.systems.postgresql.probe import connect
from helpers import need, system

TABLE = "CREATE TABLE dbdyno.dbdyno_t (id INT PRIMARY KEY, version BIGINT)"


def test_a_replica_follows_and_comes_back_to_a_primary_that_was_killed(launch):
    need("mariadb")
    pair = system("replicated(mariadb*2)")
    try:
        pair.start(launch)
        assert sorted(pair.server_pids()) == ["replicated-1", "replicated-2"]
        log, replica = pair.witnesses()
        assert (log.name, replica.name) == ("binary log", "replica replicated-2")
        ask(pair.primary.endpoint, TABLE)
        ask(pair.primary.endpoint, "INSERT INTO dbdyno.dbdyno_t VALUES (1, 4), (2, 0)")
        tables = {"dbdyno_t": 3}
        whole = [-1, 4, 0, -1]
        assert replica.versions(tables)[0]["dbdyno_t"].tolist() == whole
        pair.kill()
        assert replica.alone(tables)["dbdyno_t"].tolist() == whole
        pair.start_again()
        assert pair.versions(tables)["dbdyno_t"].tolist() == whole
        ask(pair.primary.endpoint, "UPDATE dbdyno.dbdyno_t SET version = 1 WHERE id = 2")
        for witness in (log, replica):
            if not witness.unable:
                versions, odd = witness.versions(tables)
                assert (versions["dbdyno_t"].tolist(), odd) == ([-1, 4, 1, -1], None)
    finally:
        pair.stop()


def test_a_standby_streams_answers_reads_and_comes_back_to_a_primary_that_was_killed(launch):
    need("postgresql")
    pair = system("replicated(postgresql?synchronous_standby_names=*, postgresql?work_mem=8MB)")
    try:
        pair.start(launch)
        assert sorted(pair.server_pids()) == ["replicated-1", "replicated-2"]
        primary, standby = (server["effective_settings"] for server in pair.servers())
        assert (standby["work_mem"], primary["work_mem"]) == ("8MB", "4MB")
        (replica,), tables = pair.witnesses(), {"dbdyno_t": 3}
        assert (replica.name, replica.promise) == ("replica replicated-2", (True, "fsync=on"))
        whole = [-1, 4, 0, -1]
        with connect(pair.primary.endpoint) as connection:
            connection.execute("CREATE TABLE dbdyno_t (id int PRIMARY KEY, version bigint)")
            # With a synchronous standby no commit is acknowledged before that has it.
            connection.execute("INSERT INTO dbdyno_t VALUES (1, 4), (2, 0)")
            state = connection.execute("SELECT application_name, sync_state FROM pg_stat_replication").fetchone()
        assert state == {"application_name": "replicated_2", "sync_state": "sync"}
        assert replica.versions(tables)[0]["dbdyno_t"].tolist() == whole
        pair.kill()
        assert replica.alone(tables)["dbdyno_t"].tolist() == whole
        pair.start_again()
        assert pair.versions(tables)["dbdyno_t"].tolist() == whole
        with connect(pair.primary.endpoint) as connection:
            connection.execute("UPDATE dbdyno_t SET version = 1 WHERE id = 2")
        versions, odd = replica.versions(tables)
        assert (versions["dbdyno_t"].tolist(), odd) == ([-1, 4, 1, -1], None)
    finally:
        pair.stop()
    assert pair.server_pids() == {}


@pytest.mark.versions
def test_a_version_without_the_tool_that_copies_a_primary_is_refused():
    need("postgresql@18")
    with pytest.raises(UserError, match="postgresql@18 comes without pg_basebackup, which makes a replica"):
        system("replicated(postgresql@18*2)")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("replicated(postgresql, mariadb)", "takes a primary and replicas"),
        ("replicated(postgresql@18, postgresql)", "of one version"),
        ("replicated(postgresql, postgresql://u@h/d)", "takes a primary and replicas"),
        ("replicated(mariadb)", "takes a primary and replicas"),
        ("replicated(mariadb, redis)", "takes a primary and replicas"),
        ("replicated(mariadb, mysql://u@h/d)", "takes a primary and replicas"),
        ("replicated(mysql@5.5*2)", "of one version, which has GTIDs"),
        ("replicated(mysql@8.0, mysql@5.7)", "of one version"),
        ("replicated(mariadb*2)?sync_binlog=1", "settings follow a part"),
    ],
)
def test_what_cannot_be_is_refused(text, said):
    with pytest.raises(UserError, match=said.replace("(", r"\(")):
        system(text)
