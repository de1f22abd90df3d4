"""A replica's rows against its primary's: a real pair."""

import pytest

from dbdyno.systems.mysql.client import ask
from dbdyno.systems.mysql.replica import Replica
from helpers import need, system


@pytest.mark.parametrize("name", ["mariadb", pytest.param("mysql@5.6", marks=pytest.mark.versions)])
def test_a_replica_that_stopped_is_read_as_it_is_and_says_why(launch, name):
    need(name)
    pair = system(f"replicated({name}*2)")
    try:
        pair.start(launch)
        primary, replica_endpoint = pair.primary.endpoint, pair.replicas[0].endpoint
        (replica,) = (witness for witness in pair.witnesses() if isinstance(witness, Replica))
        ask(primary, "CREATE TABLE dbdyno.dbdyno_t (id INT PRIMARY KEY, version BIGINT)")
        ask(primary, "INSERT INTO dbdyno.dbdyno_t VALUES (1, 4), (2, 0)")
        versions, odd = replica.versions({"dbdyno_t": 2})
        assert (versions["dbdyno_t"].tolist(), odd) == ([-1, 4, 0], None)
        # It cannot apply any more what it gets.
        ask(replica_endpoint, "DELETE FROM dbdyno.dbdyno_t WHERE id = 2")
        ask(primary, "UPDATE dbdyno.dbdyno_t SET version = 2 WHERE id = 2")
        versions, odd = replica.versions({"dbdyno_t": 2})
        assert versions["dbdyno_t"].tolist() == [-1, 4, -1]
        assert "Update_rows" in odd
    finally:
        pair.stop()
