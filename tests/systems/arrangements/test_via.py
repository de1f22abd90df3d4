"""A pooler in front of a server, both real."""

import pytest

from dbdyno.errors import UserError
from helpers import need, need_proxysql, system
from systems.load import execute

ALL = ["prepare", "load", "run", "verify", "cleanup"]


def test_clients_work_through_the_pooler_which_is_observed_as_a_part(started):
    need("pgbouncer", "postgresql")
    pooled = started("via(pgbouncer?default_pool_size=30, postgresql)")
    assert sorted(pooled.server_pids()) == ["pgbouncer", "postgresql"]
    pooler, server = pooled.servers()
    assert (pooler["name"], server["name"]) == ("pgbouncer", "postgresql")
    assert pooler["effective_settings"]["default_pool_size"] == "30"
    assert pooled.durability().level == "D2"
    before = pooled.counters()["pgbouncer"]
    outcome = execute(pooled, "game", ALL)
    assert (outcome.status, outcome.errors()) == (0, set())
    (total,) = outcome.of("total")
    assert total["reads_verified"] > 0 and all(check["ok"] is not False for check in outcome.of("check"))
    # The pooler has counted what the clients sent it.
    sent = pooled.counters()["pgbouncer"]["total_query_count"] - before.get("total_query_count", 0)
    assert sent >= total["transactions"]["completed"]


def test_a_connection_for_each_transaction_is_taken_from_the_pool(started):
    need("pgbouncer", "postgresql")
    pooled = started("via(pgbouncer, postgresql)")
    outcome = execute(pooled, "point-get", ALL, transactions_per_connection=1)
    assert (outcome.status, outcome.errors()) == (0, set())
    (total,) = outcome.of("total")
    # The first connection of each client is there when the run begins.
    assert total["operations"]["connect"]["completed"] >= total["transactions"]["completed"] - 2 > 0


@pytest.mark.parametrize("server", ["mariadb", "mysql@8.0"])
@pytest.mark.parametrize("protocol", ["prepared", "text"])
def test_clients_work_through_proxysql(started, server, protocol):
    need_proxysql()
    need(server)
    pooled = started(f"via(proxysql?pool_size=30, {server}?protocol={protocol})")
    assert set(pooled.server_pids()) == {"proxysql", server.partition("@")[0]}
    before = pooled.counters()["proxysql"]["Questions"]
    outcome = execute(pooled, "game", ALL)
    assert (outcome.status, outcome.errors()) == (0, set())
    (total,) = outcome.of("total")
    assert total["reads_verified"] > 0 and all(check["ok"] is not False for check in outcome.of("check"))
    assert pooled.counters()["proxysql"]["Questions"] - before >= total["transactions"]["completed"]


def test_what_the_server_cannot_do_is_refused_behind_a_pooler_too():
    assert "transaction" not in system("via(proxysql, mariadb?engine=MyISAM)").operations


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pgbouncer", "stores nothing by itself: put it in front of a server"),
        ("via(pgbouncer)", "via takes a pooler and its server"),
        ("via(postgresql, pgbouncer)", "via takes a pooler and its server"),
        ("via(pgbouncer, mariadb)", "via takes a pooler and its server"),
        ("via(proxysql, postgresql)", "via takes a pooler and its server"),
        ("via(proxysql, handlersocket)", "via takes a pooler and its server"),
        ("via(proxysql, mariadb?access=handler)", "HANDLER opens a table in one"),
        ("via(proxysql, mariadb?connect=socket)", "is reached over TCP without TLS"),
        ("via(pgbouncer, postgresql?tls=on)", "is reached over TCP without TLS"),
        ("via(proxysql?pool_size=0, mariadb)", "give a number of connections"),
        ("via(proxysql?interfaces=x, mariadb)", "dbdyno sets 'interfaces'"),
        ("via(pgbouncer, postgresql)?pool_mode=session", "settings belong to a part"),
        ("via(pgbouncer?pool_mode=statement, postgresql)", "give one of session, transaction"),
        ("via(pgbouncer?listen_port=1, postgresql)", "dbdyno sets 'listen_port'"),
    ],
)
def test_what_cannot_be_is_refused(text, said):
    with pytest.raises(UserError, match=said.replace("(", r"\(")):
        system(text)
