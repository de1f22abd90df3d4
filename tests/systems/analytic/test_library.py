"""Column stores that are libraries: settings, what they say of themselves, and their end."""

from contextlib import closing

import pytest

from dbdyno.errors import RunFailed, UserError
from dbdyno.experiment.workloads import ANALYSE
from dbdyno.systems.analytic.chdb import ChDB
from dbdyno.systems.base import Launch
from dbdyno.systems.packages.cache import CACHE_VARIABLE
from helpers import need, system

LIBRARIES = ("chdb", "monetdb")


@pytest.mark.parametrize("name", LIBRARIES)
def test_it_is_got_as_a_package(name, tmp_path, monkeypatch):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    assert f"dbdyno systems install {name} (" in system(name).missing()
    assert system(name).operations == {ANALYSE}


@pytest.mark.parametrize("name", LIBRARIES)
def test_settings_it_does_not_have_are_refused(name):
    with pytest.raises(UserError, match="no setting 'thread'"):
        system(f"{name}?thread=1")


@pytest.mark.systems
@pytest.mark.parametrize("name", LIBRARIES)
def test_it_keeps_what_it_was_given_and_leaves_nothing(name, guard, tmp_path):
    need(name)
    under_test = system(f"{name}?threads=1&memory_limit_mib=2000")
    under_test.start(Launch(guard, tmp_path, 1, 1000))
    path = under_test.path
    with closing(under_test.analyst()) as analyst:
        analyst.ask("CREATE TABLE kept (a INT)" if name == "monetdb" else "CREATE TABLE kept (a Int32) ENGINE = Log")
        analyst.ask("INSERT INTO kept VALUES (7)")
    with closing(under_test.analyst()) as analyst:
        assert [tuple(row) for row in analyst.ask("SELECT a FROM kept")] == [(7,)]
    (server,) = under_test.servers()
    assert server["effective_settings"] == {"threads": "1", "memory_limit_mib": "2000"}
    assert server.get("not_readable", []) == (["threads"] if name == "monetdb" else [])
    assert len(under_test.all_settings()[name]) > 10
    assert server["version"]
    assert under_test.store_plan([]) == {"kind": name, "path": str(path), "threads": 1, "memory_limit_mib": 2000}
    under_test.stop()
    assert not path.exists()


def test_one_that_cannot_be_opened_is_a_failed_run(guard, tmp_path, monkeypatch):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    under_test = system("chdb")
    assert isinstance(under_test, ChDB)
    with pytest.raises(RunFailed, match="chdb: No module named 'chdb'"):
        under_test.start(Launch(guard, tmp_path, 1, 1000))
    under_test.stop()


class Shows:
    """Opens a store that has another limit than it was given."""

    error = ()

    def ask(self, sql):
        return [("max_threads", "2"), ("max_memory_usage", "0")]

    def close(self):
        pass


def test_a_value_that_was_not_taken_is_refused(guard, tmp_path, monkeypatch):
    under_test = system("chdb?threads=1")
    monkeypatch.setattr(under_test, "analyst", Shows)
    with pytest.raises(UserError, match="threads=1 was given, and chdb has 2"):
        under_test.start(Launch(guard, tmp_path, 1, 1000))
    under_test.stop()
