"""The load client's own cost is measured for every workload."""

import io
import json

import pytest

from dbdyno.load_python.own_cost import own_cpu_us
from dbdyno.load_python.plan import read_plan
from load_python.conftest import plan_of


@pytest.mark.parametrize("workload", ["point-get", "secondary-get", "point-update", "game"])
@pytest.mark.parametrize("encoded", [True, False])
def test_it_is_some_microseconds(workload, encoded, monkeypatch):
    monkeypatch.setattr("dbdyno.load_python.own_cost.LENGTH_S", 0.01)
    plan = read_plan(io.StringIO(json.dumps(plan_of({"kind": "mysql"}, workload, library="pymysql")) + "\n\n"))
    assert own_cpu_us(plan, encoded) > 0
