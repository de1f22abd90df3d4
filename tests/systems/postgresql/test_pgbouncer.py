"""PgBouncer's settings are given, read back and refused; tests/systems/arrangements has it in front of a server."""

import pytest

from dbdyno.errors import UserError
from dbdyno.experiment.system_spec import parse_system
from dbdyno.systems.postgresql.pgbouncer import PgBouncer
from helpers import need


def pooler(text):
    return PgBouncer(parse_system(text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pgbouncer?pool_mode=statement", "give one of session, transaction"),
        ("pgbouncer?listen_port=1", "dbdyno sets 'listen_port'"),
        ("pgbouncer?auth_type=trust", "dbdyno sets 'auth_type'"),
        ("pgbouncer?pool-mode=session", "is not a setting of PgBouncer"),
    ],
)
def test_settings_that_it_cannot_have_are_refused(text, said):
    with pytest.raises(UserError, match=said):
        pooler(text)


def test_its_settings_and_counters_are_read_from_its_console(started):
    need("pgbouncer", "postgresql")
    pooled = started("via(pgbouncer?server_idle_timeout=61&default_pool_size=7, postgresql)")
    settings = pooled.all_settings()["pgbouncer"]
    assert (settings["server_idle_timeout"], settings["default_pool_size"]) == ("61", "7")
    (stated, _) = pooled.servers()
    assert stated["effective_settings"]["server_idle_timeout"] == "61" and "." in stated["version"]
    assert not any("password" in key for key in stated["effective_settings"])


def test_a_pool_of_transactions_needs_a_version_that_keeps_statements(started):
    need("pgbouncer", "postgresql")
    kept = tuple(map(int, pooler("pgbouncer")._version().split(".")[:2])) >= (1, 21)
    if kept:
        assert started("via(pgbouncer?pool_mode=transaction, postgresql)").server_pids()
        return
    with pytest.raises(UserError, match="keeps no prepared statements with pool_mode=transaction"):
        started("via(pgbouncer?pool_mode=transaction, postgresql)")
