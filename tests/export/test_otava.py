"""A row a run in the order of time, and no empty figure: its importer reads neither."""

import csv
import io
import json
from dataclasses import replace
from datetime import datetime

import pytest

from dbdyno.export.otava import to_otava
from dbdyno.results.read import read_run
from synthetic_run import SYSTEMS, write_run


@pytest.fixture
def run_at(tmp_path):
    def write(name, hour, clients=(1, 2), repeats=1, **keys):
        folder = write_run(tmp_path / name, SYSTEMS[:1], clients, 2, repeats, **keys)
        about = json.loads((folder / "run.json").read_text()) | {"started_unix_s": 1_795_206_600.5 + 3600 * hour}
        (folder / "run.json").write_text(json.dumps(about))
        return read_run(folder)

    return write


def rows_of(*runs):
    return list(csv.DictReader(io.StringIO(to_otava(runs).text)))


def test_runs_are_rows_in_the_order_of_time(run_at):
    rows = rows_of(run_at("late", 2), run_at("early", 1))
    times = [datetime.fromisoformat(row["time"]) for row in rows]
    assert [row["run"] for row in rows] == ["early", "late"]
    assert (times[1] - times[0]).total_seconds() == 3600 and times[0].tzinfo is not None


def test_every_figure_is_a_number(run_at):
    (row,) = rows_of(run_at("one", 1, rates=(None, 500)))
    figures = {name: float(value) for name, value in row.items() if name not in ("time", "run", "dbdyno")}
    assert "sqlite game c1 throughput_per_s" in figures and "sqlite game c2 at 500/s p99_us" in figures
    assert min(figures.values()) > 0


def test_repetitions_are_their_median(run_at):
    run = run_at("one", 1, clients=(1,), repeats=3)
    (row,) = rows_of(run)
    rates = sorted(trial.recorded.throughput_per_s for trial in run.trials)
    assert float(row["sqlite game c1 throughput_per_s"]) == rates[1]


def test_a_column_that_a_run_lacks_is_left_out_and_named(run_at):
    export = to_otava([run_at("one", 1), run_at("other", 2, clients=(2, 4))])
    (header, *_) = export.text.splitlines()
    assert "c1" not in header and "c2 throughput_per_s" in header and "c4" not in header
    assert {name.split()[2] for name in export.left_out} == {"c1", "c4"}


def test_a_failed_trial_has_no_figure(run_at):
    export = to_otava([run_at("one", 1, faults={("sqlite", 1): "server-died"})])
    assert "c1" not in export.text and export.left_out == ()


def test_passwords_are_not_in_the_name_of_a_run(run_at):
    run = replace(run_at("one", 1), path=None, about={**run_at("again", 1).about, "run": "mysql://me:hidden@db/x"})
    assert "hidden" not in to_otava([run]).text
