"""The lists of what there is, and how to get the rest."""

from dbdyno.experiment.clients import LIBRARIES, Library
from dbdyno.experiment.shipped_files import shipped_questions
from dbdyno.experiment.workloads import WORKLOADS
from dbdyno.systems import SYSTEMS


def test_everything_there_is_is_listed(dbdyno, monkeypatch):
    monkeypatch.setattr(SYSTEMS["redis"], "missing", classmethod(lambda cls: "not installed: apt install it"))
    monkeypatch.setenv("COLUMNS", "200")
    status, out, err = dbdyno("list", "--details")
    assert (status, err) == (0, "")
    for name in (*WORKLOADS, *SYSTEMS, "quickstart", "mysql://", "options.access: uniform | sequential"):
        assert name in out
    assert "dbdyno host" in out and "docs/own-workload.md" in out
    assert "Which store serves a small game's request fastest" in out
    assert "not installed: apt install it" in out


def test_a_library_that_is_missing_is_listed_with_how_to_get_it(dbdyno, monkeypatch):
    monkeypatch.setitem(LIBRARIES, "pymysql", Library("pymysql", "PyMySQL", "no_such_module", "pymysql"))
    monkeypatch.setenv("COLUMNS", "200")
    _, out, _ = dbdyno("list", "--details")
    assert "PyMySQL; drives mariadb" in out and "pip install 'dbdyno[pymysql]'" in out
    assert all(name in out for name in ("native", *LIBRARIES))


def test_a_line_each_that_fits_and_a_name_chooses(dbdyno, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    status, out, _ = dbdyno("list")
    lines = [line for line in out.splitlines() if line.startswith("  ")]
    assert status == 0 and max(map(len, out.splitlines())) <= 80
    assert len({line.split("  ")[1] for line in lines}) >= len(WORKLOADS) and not any(
        x.startswith("   ") for x in lines
    )
    assert "…" not in out and all(question in out for question in shipped_questions().values())
    status, out, _ = dbdyno("list", "point-get")
    assert [line.strip() for line in out.splitlines() if not line.startswith(" ")][:1] == ["Experiments"]
    assert "Workloads" in out and "Systems" not in out and "tpcc" not in out
    assert "nothing has 'nosuch' in its name" in dbdyno("list", "nosuch")[2]
