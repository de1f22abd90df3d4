"""A replica beside its primary: a real pair, whose connections are counted."""

from dbdyno.systems.mysql.client import ask
from helpers import need, system, wait_until


def test_both_servers_have_a_connection_more_only_while_they_are_asked(launch):
    need("mariadb")
    pair = system("replicated(mariadb*2)")

    def connections():
        question = "SELECT COUNT(*) AS count FROM information_schema.PROCESSLIST WHERE COMMAND IN ('Sleep', 'Query')"
        return [ask(server.endpoint, question)[0]["count"] for server in (pair.primary, *pair.replicas)]

    try:
        pair.start(launch)
        (follower,) = pair.followers()
        alone = [1, 1]
        assert wait_until(lambda: connections() == alone)
        with follower.connected():
            assert follower.has(follower.position())
            assert connections() == [2, 2]
        assert wait_until(lambda: connections() == alone)
    finally:
        pair.stop()
    assert system("mariadb").followers() == []
