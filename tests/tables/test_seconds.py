"""Every recorded second of every trial is a row, in order, with its time of day."""

from dataclasses import replace

import numpy as np
import pytest

from dbdyno.tables.seconds import COLUMNS, seconds_of


def rows_of(run):
    names = [column.name for column in COLUMNS]
    return [dict(zip(names, row, strict=True)) for row in seconds_of([run]).rows()]


def test_the_seconds_are_those_recorded(run):
    rows = rows_of(run)
    for trial in run.trials:
        own = [row for row in rows if row["trial"] == trial.name]
        assert [row["transactions"] for row in own] == [interval.completed for interval in trial.recorded.intervals]
        assert [row["warmup"] for row in own] == [True, False, False, False]
        assert [row["max_us"] for row in own] == [interval.max_ns / 1000 for interval in trial.recorded.intervals]
        assert sum(row["transactions"] for row in own if not row["warmup"]) == trial.recorded.completed


def test_each_begins_where_the_one_before_ended(run):
    for trial in run.trials:
        own = [row for row in rows_of(run) if row["trial"] == trial.name]
        begun = trial.recorded.run_began_unix_s
        assert [row["at_unix_s"] - begun for row in own] == [0.0, 1.0, 2.0, 3.0]


def test_only_an_open_loop_has_arrivals(run):
    assert {(row["rate"] is None, row["scheduled"] is None) for row in rows_of(run)} == {(True, True), (False, False)}


def test_stalls_are_those_of_the_measured_seconds(run):
    (trial, *others) = run.trials
    gaps_ns = np.array([[1_200_000_000, 600_000_000], [2_500_000_000, 700_000_000]])
    stalled = replace(trial, recorded=replace(trial.recorded, gaps_ns=gaps_ns))
    own = [row for row in rows_of(replace(run, trials=(stalled, *others))) if row["trial"] == trial.name]
    assert [row["longest_stall_ms"] for row in own] == [None, 600.0, 700.0, 700.0]
    assert [row["stalled_share"] for row in own] == [None, 0.6, 0.5, pytest.approx(0.2)]


def test_a_load_client_that_records_no_stalls_has_none(run):
    trial = replace(run.trials[0], recorded=replace(run.trials[0].recorded, gaps_ns=None))
    assert {row["longest_stall_ms"] for row in rows_of(replace(run, trials=(trial,)))} == {None}
