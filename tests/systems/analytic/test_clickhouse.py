"""ClickHouse's server as a system: settings, what it says of itself, and its end."""

from contextlib import closing

import pytest

from dbdyno.errors import UserError
from dbdyno.experiment.workloads import ANALYSE

pytestmark = pytest.mark.systems


def test_it_starts_with_its_settings_and_leaves_nothing(started):
    under_test = started("clickhouse?max_threads=1")
    (path,) = under_test.data_directories()
    (name,) = under_test.server_pids()
    (server,) = under_test.servers()
    assert name == "clickhouse" and server["version"] and server["effective_settings"]["max_threads"] == "1"
    assert len(under_test.all_settings()["clickhouse"]) > len(server["effective_settings"])
    assert under_test.durability().level == "D1" and under_test.operations == {ANALYSE}
    secrets = []
    assert under_test.store_plan(secrets)["password"] == {"secret": 0} and len(secrets[0]) == 32
    under_test.stop()
    assert not path.exists()
    assert not under_test.server_pids()


def test_it_keeps_what_it_has_through_a_restart(started):
    under_test = started("clickhouse")
    with closing(under_test.analyst()) as analyst:
        analyst.ask("CREATE TABLE kept (a Int32) ENGINE = Log")
        analyst.ask("INSERT INTO kept SELECT 7")
    under_test.restart()
    with closing(under_test.analyst()) as analyst:
        assert [tuple(row) for row in analyst.ask("SELECT a FROM kept")] == [(7,)]


def test_a_stranger_is_not_let_in(started):
    under_test = started("clickhouse")
    analyst = under_test.analyst()
    analyst._endpoint = type(under_test.endpoint)("127.0.0.1", under_test.endpoint.port, None, "default", "")
    with pytest.raises(analyst.error):
        analyst.ask("SELECT 1")


@pytest.mark.parametrize("setting", ["no_such_setting=1", "max_threads=many"])
def test_a_setting_it_does_not_take_is_refused(started, setting):
    with pytest.raises(UserError):
        started(f"clickhouse?{setting}")
