"""The table of workloads matches the load clients."""

import pytest

from dbdyno.experiment.workloads import WORKLOADS
from dbdyno.load_python.workloads import make_workload


@pytest.mark.parametrize("name", ["point-get", "point-update", "game"])
def test_how_large_rows_are_is_what_the_generators_make(name):
    tables = make_workload(name, 20_000, {}).tables
    made = sum(len(table.encode(table.generate(key, 0))) for table in tables for key in range(1, 20_001, 100)) / 200
    assert made == pytest.approx(WORKLOADS[name].row_bytes, rel=0.02)
