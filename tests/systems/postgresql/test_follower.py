"""A standby beside its primary."""

from dbdyno.systems.postgresql.probe import connect
from helpers import need, system, wait_until
from systems.following import check_follower


def test_a_standby_has_a_position_only_when_it_has_replayed_it(launch):
    check_follower(launch, "replicated(postgresql*2)")


def test_what_was_written_and_never_committed_keeps_no_standby_behind(launch):
    need("postgresql")
    pair = system("replicated(postgresql*2)")
    try:
        pair.start(launch)
        (follower,) = pair.followers()
        with connect(pair.primary.endpoint) as connection:
            connection.execute("CREATE TABLE t (note text)")
            connection.execute("BEGIN")
            connection.execute("INSERT INTO t SELECT repeat('x', 1000) FROM generate_series(1, 1000)")
            connection.execute("ROLLBACK")
        with follower.connected():
            position = follower.position()
            assert wait_until(lambda: follower.has(position))
    finally:
        pair.stop()
