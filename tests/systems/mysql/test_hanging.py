"""A server that answers nobody any more is not waited for as long as the checks of a large table may take."""

import time

import pymysql
import pytest

from helpers import running
from systems.load import begin, end, execute, plan_of, until_completed

TABLE = "dbdyno_bm"


@pytest.fixture
def server(tmp_path):
    with running("mariadb", tmp_path) as started_server:
        yield started_server


@pytest.fixture
def owner(server):
    endpoint = server.endpoint
    login = {"user": endpoint.user, "password": endpoint.password, "database": endpoint.database}
    with pymysql.connect(host=endpoint.host, port=endpoint.port, **login) as connection, connection.cursor() as cursor:
        yield cursor


def test_a_store_that_hangs_at_the_end_of_a_run_is_not_verified(server, owner):
    assert execute(server, "point-get", ["prepare", "load"]).status == 0
    plan = plan_of(None, "point-get", ["run", "verify"], operation_timeout_s=0.5, duration_s=2)
    process, records = begin(server, plan), []
    until_completed(process, records)
    owner.execute(f"LOCK TABLES {TABLE} WRITE")
    began = time.monotonic()
    done = end(process, records)
    owner.execute("UNLOCK TABLES")
    (last,) = done.of("end")
    assert (done.status, last["status"]) == (1, "failed")
    assert "the store hangs" in last["reason"] and "nothing was verified" in last["reason"]
    # The checks themselves may wait for an hour.
    assert time.monotonic() - began < 60
    assert execute(server, "point-get", ["verify", "cleanup"]).status == 0
