"""`dbdyno.open_run`: a run's tables for people who write Python."""

import subprocess
import sys

import pytest

import dbdyno
from dbdyno.errors import UserError
from dbdyno.tables.catalogue import TABLES
from synthetic_run import SYSTEMS, write_run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_run(tmp_path_factory.mktemp("runs") / "small", SYSTEMS[:2], clients=(1, 2), seconds=3)


def test_every_table_is_an_attribute(folder):
    run = dbdyno.open_run(str(folder))
    assert (run.path, run.name, run.state) == (folder, "small", "complete")
    assert repr(run) == "<Run small: 4 trials, complete>"
    for name in TABLES:
        table = getattr(run, name)
        assert table.name == name and len(table) > 0 and table is getattr(run, name)
        assert len(table.to_pandas()) == len(table.to_polars()) == table.to_arrow().num_rows == len(table)


def test_a_run_that_was_killed_is_opened_as_far_as_it_went(tmp_path):
    folder = write_run(tmp_path / "killed", SYSTEMS[:1], clients=(1, 2), faults={("sqlite", 2): "killed"})
    run = dbdyno.open_run(folder)
    assert run.state == "running"
    assert run.trials.to_pandas()["state"].tolist() == ["complete", "interrupted"]


def test_what_is_no_run_is_refused(tmp_path):
    with pytest.raises(UserError, match="is not a run"):
        dbdyno.open_run(tmp_path)


def test_what_cannot_be_understood_is_named(tmp_path):
    folder = write_run(tmp_path / "odd", SYSTEMS[:1], clients=(1,))
    (file,) = folder.glob("trials/*/trial.json")
    file.write_text(file.read_text().replace('"rows": 20000', '"rows": "many"'))
    with pytest.raises(UserError, match="odd: cannot be understood"):
        len(dbdyno.open_run(folder).trials.to_arrow())


def test_importing_dbdyno_loads_no_library():
    code = "import sys, dbdyno; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "pydantic", "dbdyno.api", "dbdyno.results"} & set(loaded)
