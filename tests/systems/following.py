"""A replica beside its primary, for the tests of each family: it is stopped and goes on."""

import pytest

from dbdyno.errors import RunFailed
from dbdyno.systems.mysql.client import ask
from dbdyno.systems.postgresql.probe import connect
from helpers import need, system, wait_until

TABLE, INSERT = "CREATE TABLE {} (id INT PRIMARY KEY)", "INSERT INTO {} VALUES (1)"
STOP_AND_GO_ON = {
    "postgresql": ("SELECT pg_wal_replay_pause()", "SELECT pg_wal_replay_resume()"),
    "mysql": ("STOP SLAVE SQL_THREAD", "START SLAVE SQL_THREAD"),
    "mariadb": ("STOP SLAVE SQL_THREAD", "START SLAVE SQL_THREAD"),
}


def execute(server, *statements):
    """Execute statements on a server of either protocol."""
    for statement in statements:
        if server.name == "postgresql":
            with connect(server.endpoint) as connection:
                connection.execute(statement.format("t"))
        else:
            ask(server.endpoint, statement.format("dbdyno.t"))


def check_follower(launch, text):
    """Check that a replica has a position only once it has applied it, and that a primary that is gone is named."""
    pair = system(text)
    need(*{part.product for part in pair.spec.parts})
    try:
        pair.start(launch)
        (follower,), (replica,) = pair.followers(), pair.replicas
        stop, go_on = STOP_AND_GO_ON[replica.name]
        execute(pair.primary, TABLE)
        with follower.connected():
            before = follower.position()
            assert wait_until(lambda: follower.has(before))
            execute(replica, stop)
            execute(pair.primary, INSERT)
            after = follower.position()
            assert follower.has(before) and not follower.has(after)
            execute(replica, go_on)
            assert wait_until(lambda: follower.has(after))
        pair.primary.kill()
        with pytest.raises(RunFailed, match="the lag of replicated-2 is not known: "), follower.connected():
            pass
    finally:
        pair.stop()
