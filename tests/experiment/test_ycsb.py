"""YCSB's property files become experiments, and what dbdyno cannot do of them is refused with its line."""

import pytest

from dbdyno.errors import UserError
from dbdyno.experiment.read import read_experiment

WORKLOAD_E = """# Yahoo! Cloud System Benchmark
# Workload E: short ranges

recordcount=1000
operationcount=1000
workload=site.ycsb.workloads.CoreWorkload

readallfields=true

readproportion=0
updateproportion=0
scanproportion=0.95
insertproportion=0.05

requestdistribution=zipfian
maxscanlength=100
scanlengthdistribution=uniform
"""
REDIS = {"system": "sqlite"}


def read(tmp_path, text):
    (tmp_path / "workload").write_text(text)
    return read_experiment(str(tmp_path / "workload"), REDIS).experiment


def test_a_property_file_becomes_the_shipped_workload(tmp_path):
    experiment = read(tmp_path, WORKLOAD_E)
    assert (experiment.rows, experiment.clients, experiment.seconds) == (1000, [1], 10)
    ours, shipped = experiment.workloads["ycsb"], read_experiment("ycsb").experiment.workloads["ycsb-e"]
    assert (ours.access, ours.tables) == (shipped.access, shipped.tables)
    total = sum(transaction.weight for transaction in ours.transactions)
    shares = {transaction.name: transaction.weight / total for transaction in ours.transactions}
    assert shares == {transaction.name: transaction.weight / 100 for transaction in shipped.transactions}
    assert {transaction.operations[0] for transaction in ours.transactions} == {
        transaction.operations[0] for transaction in shipped.transactions
    }


def test_properties_change_what_they_name(tmp_path):
    more = "fieldlength=40\nfieldlengthdistribution=uniform\nfieldcount=2\nwriteallfields=true\n"
    text = WORKLOAD_E.replace("scanproportion=0.95", "readmodifywriteproportion=0.95").replace("zipfian", "hotspot")
    experiment = read(tmp_path, f"{text}{more}threadcount=8\ntarget=500\nmaxexecutiontime=3\n")
    (table,) = experiment.workloads["ycsb"].tables
    assert [(column.kind, column.generator) for column in table.columns[2:]] == [
        ("varchar(40)", "versioned-letters")
    ] * 2
    assert table.columns[2].size.model_dump() == {"kind": "uniform", "from": 1, "to": 40}
    assert experiment.workloads["ycsb"].access.kind == "hot-set"
    assert (experiment.clients, experiment.seconds, experiment.rate[0].per_s) == ([8], 3, (500,))
    assert experiment.workload[0].operations == ("insert", "get", "update")


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("recordcount=1000", "recordcount=many", "line 4: recordcount = many: is not a number"),
        ("recordcount=1000\n", "", "recordcount is missing: give 1 to"),
        ("recordcount=1000", "recordcount=0", "line 4: recordcount = 0: give 1 to"),
        ("readallfields=true", "readallfields=false", "line 8: readallfields = false: give one of true"),
        ("scanproportion=0.95", "scanproportion=1.5", "line 12: scanproportion = 1.5: give 0 to 1"),
        ("=zipfian", "=exponential", "line 15: requestdistribution = exponential: give one of uniform, zipfian"),
        ("maxscanlength=100", "maxscanlength=5000", "line 16: maxscanlength = 5000: give 1 to 1,000"),
        ("=uniform", "=zipfian", "line 17: scanlengthdistribution = zipfian: give one of uniform"),
        ("maxscanlength", "maxscanlenght", "line 16: 'maxscanlenght' .*did you mean 'maxscanlength'"),
        ("CoreWorkload", "TimeSeriesWorkload", "line 6: workload = .*only YCSB's CoreWorkload"),
        ("0.95\ninsertproportion=0.05", "0\ninsertproportion=0", "the shares of all operations are 0"),
    ],
)
def test_what_cannot_be_done_is_refused_with_its_line(right, wrong, said, tmp_path):
    assert right in WORKLOAD_E
    with pytest.raises(UserError, match=said):
        read(tmp_path, WORKLOAD_E.replace(right, wrong))
