"""The operations of trials have the figures of the recordings."""

from dbdyno.tables.operations import COLUMNS, operations_of


def test_every_operation_of_every_trial_has_a_row(run):
    names = [column.name for column in COLUMNS]
    rows = [dict(zip(names, row, strict=True)) for row in operations_of([run]).rows()]
    recorded = {trial.name: {one.name: one for one in trial.recorded.operations} for trial in run.trials}
    assert len(rows) == sum(map(len, recorded.values())) > 0
    for row in rows:
        one = recorded[row["trial"]][row["name"]]
        assert (row["operation"], row["table"], row["errors"]) == (one.operation, one.table, one.failed)
        assert (row["count"], row["service_time_max_us"]) == (one.service_time.count, one.service_time.max_ns / 1000)
