"""What there is, and how to get what is not."""

from dbdyno.experiment.clients import LIBRARIES, Library
from dbdyno.experiment.workloads import WORKLOADS
from dbdyno.systems import SYSTEMS


def test_everything_there_is_is_listed(dbdyno, monkeypatch):
    monkeypatch.setattr(SYSTEMS["redis"], "missing", classmethod(lambda cls: "not installed: apt install it"))
    monkeypatch.setenv("COLUMNS", "200")
    status, out, err = dbdyno("list")
    assert (status, err) == (0, "")
    for name in (*WORKLOADS, *SYSTEMS, "quickstart", "mysql://", "options.access: uniform | sequential"):
        assert name in out
    assert "dbdyno host" in out and "docs/own-workload.md" in out
    assert "Which of these stores serves a small game's request fastest" in out
    assert "not installed: apt install it" in out


def test_a_library_that_is_missing_is_listed_with_how_to_get_it(dbdyno, monkeypatch):
    monkeypatch.setitem(LIBRARIES, "pymysql", Library("pymysql", "PyMySQL", "no_such_module", "pymysql"))
    monkeypatch.setenv("COLUMNS", "200")
    _, out, _ = dbdyno("list")
    assert "PyMySQL; drives mariadb" in out and "pip install 'dbdyno[pymysql]'" in out
    assert all(name in out for name in ("native", *LIBRARIES))
