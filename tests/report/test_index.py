"""The index shows every run there is, a broken one as that."""

import json
import re

import pytest

from dbdyno.errors import UserError
from dbdyno.report.html import write_report
from dbdyno.report.index import write_index
from dbdyno.results.read import read_run
from synthetic_run import SYSTEMS, write_run


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    first = write_run(folder / "2026-first run", SYSTEMS[:2], clients=(1,), seconds=2)
    write_report(read_run(first), first / "report.html")
    later = write_run(folder / "2026-later", SYSTEMS[2:3], clients=(1,), seconds=2)
    about = json.loads((later / "run.json").read_text())
    about |= {"started_unix_s": about["started_unix_s"] + 1, "question": "<b>?</b>", "state": "interrupted"}
    (later / "run.json").write_text(json.dumps(about))
    (folder / "broken").mkdir()
    (folder / "broken" / "run.json").write_text("{")
    return folder


def test_what_when_where_and_what_came_out(runs):
    page = write_index(runs).read_text()
    assert page.index("2026-later") < page.index("2026-first run") < page.index("Cannot be read")
    assert re.findall(r'href="([^"]*)"', page) == ["2026-first%20run/report.html"]
    assert "One trial per cell names no winner" in page
    for said in ("lmdb was fastest: ", "bench-1", "2026-11-20", "interrupted", "no report:", "2 of 2 trials"):
        assert said in page
    assert "<b>broken</b>: run.json: is not JSON" in page and "&lt;b&gt;?&lt;/b&gt;" in page


def test_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(UserError, match="holds no run"):
        write_index(tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("key", "value"), [("memory_bytes", "much"), ("memory_bytes", [1])])
def test_a_run_with_a_host_that_nobody_has_is_one_that_cannot_be_read(tmp_path, key, value):
    run = write_run(tmp_path / "run", SYSTEMS[:1], clients=(1,), seconds=2)
    file = run / "environment.json"
    about = json.loads(file.read_text())
    file.write_text(json.dumps(about | {"cpu_model": None, key: value}))
    page = write_index(tmp_path).read_text()
    assert "Cannot be read" in page and "it holds a value that dbdyno never writes" in page
