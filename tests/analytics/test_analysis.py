"""Rules for every analytic workload."""

import pytest

from dbdyno.analytics.catalogue import ANALYSES
from dbdyno.experiment.workloads import WORKLOADS, Kind

ROWS = 400


def test_every_analytic_workload_is_there():
    assert set(ANALYSES) == {workload.name for workload in WORKLOADS.values() if workload.kind is Kind.ANALYSIS}


@pytest.mark.parametrize("name", ANALYSES)
def test_files_hold_the_rows_and_columns_of_the_table_and_take_no_more_than_is_said(name, tmp_path):
    analysis = ANALYSES[name]({})
    files = [file for batch in analysis.files(ROWS, 1, tmp_path, print) for file in batch]
    assert sum(count for _, count in files) == ROWS
    lines = [line for path, _ in files for line in path.read_text().splitlines()[1:]]
    assert len(lines) == ROWS and all(line.endswith(",") for line in lines)
    assert sum(map(len, lines)) < analysis.row_bytes * ROWS
    assert "seed 7" in analysis.source(ROWS, 7)
    # Every query is of this table.
    assert all(analysis.table.name in query.sql for query in analysis.queries(ROWS))
