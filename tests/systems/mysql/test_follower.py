"""Replicas of servers of the MySQL protocol, and nodes of a cluster, beside the server that is written to."""

import pytest

from dbdyno.systems.mysql.client import ask, connect
from helpers import need, system, wait_until
from systems.following import check_follower


@pytest.mark.parametrize(
    "text",
    [
        "replicated(mariadb*2)",
        pytest.param("replicated(mysql@5.6*2)", marks=pytest.mark.versions),
        pytest.param("replicated(mysql@8.0*2)", marks=pytest.mark.systems),
    ],
)
def test_a_replica_has_a_position_only_when_it_has_applied_it(launch, text):
    check_follower(launch, text)


@pytest.mark.systems
@pytest.mark.timeout(600)
def test_a_node_has_a_commit_of_the_group_only_when_it_has_applied_it(launch):
    need("galera")
    cluster = system("galera?nodes=2")
    try:
        cluster.start(launch)
        (follower,), (first, second) = cluster.followers(), cluster.nodes
        assert follower.name == "galera-2"
        ask(first.endpoint, "CREATE TABLE dbdyno.t (id INT PRIMARY KEY)")
        with follower.connected(), connect(second.endpoint, autocommit=True) as holding:
            assert wait_until(lambda: follower.has(follower.position()))
            holding.query("FLUSH TABLES WITH READ LOCK")
            ask(first.endpoint, "INSERT INTO dbdyno.t VALUES (1)")
            position = follower.position()
            assert not follower.has(position)
            holding.query("UNLOCK TABLES")
            assert wait_until(lambda: follower.has(position))
    finally:
        cluster.stop()
