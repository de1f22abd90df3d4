"""A real FerretDB over PostgreSQL: which indexes it has there, and which its queries use."""

import pytest

from dbdyno.systems.postgresql.probe import connect
from helpers import need, wait_until
from systems.load import execute

INDEXES = """
SELECT amname AS kind, count(*) AS indexes, sum(idx_scan) AS scans
FROM pg_stat_user_indexes JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_am ON pg_am.oid = relam
WHERE pg_stat_user_indexes.relname LIKE 'dbdyno\\_bm%' GROUP BY amname
"""


def indexes_of(server):
    with connect(server.backend.endpoint) as connection:
        return {row["kind"]: row for row in connection.execute(INDEXES)}


@pytest.mark.systems
@pytest.mark.parametrize(("workload", "fields"), [("point-get", 1), ("secondary-get", 2)])
def test_a_get_uses_the_index_that_was_added_to_its_field(started, workload, fields):
    need("postgresql")
    server = started("ferretdb?backend=postgresql")
    done = execute(server, workload, ["prepare", "load", "run"], rows=5000)
    assert (done.status, done.errors()) == (0, set())
    gets = done.of("total")[0]["transactions"]["completed"]
    assert gets > 0
    wait_until(lambda: indexes_of(server)["gin"]["scans"] >= gets)
    assert indexes_of(server)["gin"]["indexes"] == indexes_of(server)["btree"]["indexes"] == fields


@pytest.mark.systems
def test_as_it_comes_it_has_its_own_indexes_alone(started):
    need("postgresql")
    server = started("ferretdb?backend=postgresql&index=own")
    assert execute(server, "point-get", ["prepare", "load"]).status == 0
    assert indexes_of(server).keys() == {"btree"}
    assert server.servers()[0]["effective_settings"]["index"] == "own"
