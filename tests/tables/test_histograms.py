"""Buckets add up to the transactions, and hold the times that they say."""

from itertools import pairwise

from dbdyno.tables.histograms import COLUMNS, histograms_of


def test_buckets_are_those_recorded(run):
    names = [column.name for column in COLUMNS]
    rows = [dict(zip(names, row, strict=True)) for row in histograms_of([run]).rows()]
    for trial in run.trials:
        own = [row for row in rows if row["trial"] == trial.name and row["operation"] is None]
        service = [row for row in own if row["time"] == "service_time"]
        assert sum(row["count"] for row in service) == trial.recorded.service_time.count > 0
        assert service[0]["from_us"] <= trial.recorded.service_time.min_ns / 1000 < service[0]["below_us"]
        assert service[-1]["from_us"] <= trial.recorded.service_time.max_ns / 1000 < service[-1]["below_us"]
        assert all(before["below_us"] <= row["from_us"] for before, row in pairwise(service))
        open_loop = {"response_time", "send_lag"} if trial.facts.rate else set()
        assert {row["time"] for row in own} == {"service_time"} | open_loop
    named = {row["operation"] for row in rows} - {None}
    assert named == {operation.name for trial in run.trials for operation in trial.recorded.operations}
