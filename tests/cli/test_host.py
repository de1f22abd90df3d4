"""The host as a table and as JSON; a disk that cannot be measured is said."""

import json
from dataclasses import replace

import pytest

from dbdyno.cli import host
from dbdyno.observe.gauges import measure


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(host, "FULL", replace(measure.SHORT))


def test_every_figure_has_its_unit(dbdyno, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    status, out, _ = dbdyno("host", "--directory", str(tmp_path))
    assert status == 0
    assert "GB/s" in out and "million steps/s" in out and "not measured" not in out.replace("two CPUs", "")
    assert "█" in out and max(map(len, out.splitlines()[:-1])) <= 80
    assert f"disk of {tmp_path}, by dbdyno" in " ".join(out.split())


def test_json_is_one_document(dbdyno):
    status, out, _ = dbdyno("host", "--json")
    assert status == 0 and json.loads(out)["processor"]["slots"]


def test_a_gauge_that_cannot_be_read_is_named(dbdyno, monkeypatch):
    def refuse(directory, seconds):
        raise OSError("no room")

    monkeypatch.setattr(measure, "measure_storage", refuse)
    _, out, _ = dbdyno("host")
    assert "disk: no room" in out and "not measured" in out
