"""The operations of trials have the figures of the recordings."""

from dbdyno.tables.operations import COLUMNS, operations_of


def test_every_operation_of_every_trial_has_a_row(run):
    names = [column.name for column in COLUMNS]
    rows = [dict(zip(names, row, strict=True)) for row in operations_of([run]).rows()]
    recorded = {
        trial.name: {operation.name: operation for operation in trial.recorded.operations} for trial in run.trials
    }
    assert len(rows) == sum(map(len, recorded.values())) > 0
    for row in rows:
        operation = recorded[row["trial"]][row["name"]]
        assert (row["operation"], row["table"], row["errors"]) == (
            operation.operation,
            operation.table,
            operation.failed,
        )
        assert (row["count"], row["service_time_max_us"]) == (
            operation.service_time.count,
            operation.service_time.max_ns / 1000,
        )
