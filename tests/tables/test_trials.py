"""The figures of trials are those of `dbdyno show --json`."""

from dbdyno.report.document import document
from dbdyno.results.read import read_run
from dbdyno.tables.trials import COLUMNS, trials_of
from synthetic_run import SYSTEMS, write_run


def rows_of(*runs):
    names = [column.name for column in COLUMNS]
    return [dict(zip(names, row, strict=True)) for row in trials_of(runs).rows()]


def test_the_figures_are_those_of_the_document(run):
    rows, trials = rows_of(run), document(run)["trials"]
    assert [row["trial"] for row in rows] == [trial["trial"] for trial in trials]
    for row, trial in zip(rows, trials, strict=True):
        times = trial["transaction"]
        assert row["throughput_per_s"] == trial["throughput_per_s"] > 0
        assert row["service_time_p99_us"] == times["service_time_us"]["p99"] > 0
        assert row["response_time_p99_us"] == times.get("response_time_us", {}).get("p99")
        assert row["limited_by"] == trial["verdict"].limit
        assert (row["durability"], row["state"]) == (trial["durability"], "complete")


def test_open_and_closed_loops_are_told_apart(run):
    rows = rows_of(run)
    assert {(row["rate"], row["rate_per_s"]) for row in rows} == {(None, None), ("800/s", 800.0)}
    assert {row["offered_per_s"] is None for row in rows if row["rate"] is None} == {True}


def test_settings_and_versions_are_texts(run):
    (redis, *_) = [row for row in rows_of(run) if row["label"] == "redis"]
    assert (redis["settings"], redis["versions"]) == ("io-threads=2", "redis 7.0.15")


def test_what_was_not_reached_and_what_failed_have_rows(tmp_path):
    faults = {("lmdb", 1): "not-reached", ("lmdb", 2): "server-died"}
    rows = rows_of(read_run(write_run(tmp_path / "run", SYSTEMS[1:2], clients=(1, 2), faults=faults)))
    # A trial that was not reached comes last, whatever its number is.
    assert sorted(row["state"] for row in rows) == ["failed", "not reached"]
    assert {row["throughput_per_s"] is None for row in rows if row["state"] == "not reached"} == {True}
    assert {row["reason"] is None for row in rows if row["state"] == "failed"} == {False}


def test_several_runs_are_one_table(run):
    assert len(trials_of([run, run])) == 2 * len(run.trials)
