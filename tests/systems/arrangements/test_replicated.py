"""A primary and its replica, real ones."""

import pytest

from dbdyno.errors import UserError
from dbdyno.systems.mysql.client import ask
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


@pytest.mark.parametrize(
    ("text", "said"),
    [
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
