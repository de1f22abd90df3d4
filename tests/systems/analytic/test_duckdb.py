"""DuckDB as a system: settings, what it says of itself, and its end."""

from contextlib import closing

import pytest

from dbdyno.errors import UserError
from dbdyno.experiment.workloads import ANALYSE
from dbdyno.systems.base import Launch
from helpers import need, system


def test_it_starts_with_its_settings_and_leaves_nothing(guard, tmp_path):
    need("duckdb")
    under_test = system("duckdb?threads=1&memory_limit_mib=300")
    under_test.start(Launch(guard, tmp_path, 1, 1000))
    path = under_test.path
    with closing(under_test.analyst()) as analyst:
        assert analyst.ask("SELECT current_setting('threads'), current_setting('memory_limit')")[0] == (1, "300.0 MiB")
    (server,) = under_test.servers()
    assert server["effective_settings"] == {"threads": "1", "memory_limit": "300.0 MiB"}
    assert under_test.all_settings()["duckdb"]["memory_limit"] == "300.0 MiB"
    assert server["version"]
    assert under_test.durability().level == "D2"
    assert under_test.store_plan([])["kind"] == "duckdb"
    under_test.stop()
    assert not path.exists()


def test_settings_it_does_not_have_are_refused():
    with pytest.raises(UserError, match="no setting 'thread'"):
        system("duckdb?thread=1")


def test_its_own_defaults_are_shown_as_what_they_are(launch):
    need("duckdb")
    under_test = system("duckdb")
    under_test.start(launch)
    effective = under_test.servers()[0]["effective_settings"]
    under_test.stop()
    assert int(effective["threads"]) > 0 and effective["memory_limit"].endswith("iB")


def test_it_does_whole_tables_alone():
    assert system("duckdb").operations == {ANALYSE}
