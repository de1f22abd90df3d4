"""The table of replicas' lags."""

from dbdyno.report.sections.replica_lag import HEADINGS, followed, rows

LAG = {"replica": "r-2", "samples": 1200, "p50_s": 0.002, "p95_s": 0.25, "max_s": 1.5, "caught_up_s": 0.0305}
GONE = {"replica": "r-3", "samples": 0, "p50_s": None, "p95_s": None, "max_s": None, "caught_up_s": None}


def trial(*replicas):
    return {"label": "pair", "clients": 4, "pipeline": 1, "network_delay_us": 0, "replicas": replicas}


def test_each_replica_of_each_trial_has_a_row():
    with_two = trial(LAG | {"problem": None}, GONE | {"problem": "it is gone"})
    assert followed({"trials": [{"label": "alone"}, with_two, trial()]}) == [with_two]
    first, second = rows([with_two])
    assert first == ["pair", "4", "r-2", "1,200", "2.00", "250", "1,500", "30.5"]
    assert (second[3], second[-1]) == ("0", "it is gone")
    assert len(first) == len(second) == len(HEADINGS)
