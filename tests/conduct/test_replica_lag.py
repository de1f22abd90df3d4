"""The lag of real replicas while a load runs on their primary."""

import json

import psutil
import pytest
from rich.console import Console

from dbdyno.conduct import replica_lag
from dbdyno.conduct.listener import Listener
from dbdyno.conduct.run import conduct
from dbdyno.report.details import print_details
from dbdyno.report.sections.replica_lag import rows
from dbdyno.report.trial_document import trial_document
from dbdyno.results.read import read_run
from dbdyno.systems.arrangements.replicated import ReplicatedMySQL
from dbdyno.systems.mysql.client import ask
from helpers import experiment, need

KEYS = {
    "workload": "point-update",
    "rows": 200,
    "clients": [2],
    "seconds": 2,
    "warmup_seconds": 1,
    "host": False,
    "ceiling": False,
}


class KillsPrimary(Listener):
    """Kills the first server of the trial when its first second is over."""

    def trial_begins(self, trial):
        parent = psutil.Process()
        self._servers = [child for child in parent.children(recursive=True) if child.name() == "mariadbd"]

    def record_came(self, record):
        if record["record"] == "interval" and self._servers:
            (primary,) = (server for server in self._servers if "--server_id=1" in server.cmdline())
            primary.kill()
            self._servers = []


def run(tmp_path, system, listener=None, **keys):
    end = conduct(experiment(**KEYS | {"system": system} | keys), "dbdyno run", tmp_path, listener or Listener())
    recorded_run = read_run(end.folder)
    (trial,) = recorded_run.trials
    return end, trial, recorded_run


@pytest.mark.parametrize("system", ["mariadb", "postgresql"])
def test_each_replica_has_its_lag_and_has_all_in_the_end(tmp_path, system):
    need(system)
    end, trial, recorded_run = run(tmp_path, f"replicated({system}*3)")
    assert (end.state, end.reason) == ("complete", None)
    replicas = trial.about["replicas"]
    assert [lag["replica"] for lag in replicas] == ["replicated-2", "replicated-3"]
    lines = [json.loads(line) for line in (end.folder / "trials" / trial.name / "lag.jsonl").read_text().splitlines()]
    for lag in replicas:
        assert 0 < lag["p50_s"] <= lag["p95_s"] <= lag["max_s"] and lag["caught_up_s"] > 0 and lag["problem"] is None
        own = [line for line in lines if line["replica"] == lag["replica"]]
        assert 0 < lag["samples"] < len(own) and lag["max_s"] in [line["lag_s"] for line in own]
    console = Console(record=True, width=160)
    print_details(recorded_run, console)
    text = console.export_text()
    assert "Lag of replicas" in text and text.count("replicated-3") > 0


def test_nothing_is_asked_of_replicas_if_nothing_is_observed_and_of_a_server_that_has_none(tmp_path):
    need("mariadb")
    for system, observe in (("replicated(mariadb*2)", False), ("mariadb", True)):
        end, trial, _ = run(tmp_path / system, system, observe=observe)
        assert end.state == "complete" and trial.about.get("replicas") is None


def test_a_replica_that_no_longer_applies_is_named_and_ends_no_run(tmp_path, monkeypatch):
    need("mariadb")
    monkeypatch.setattr(replica_lag, "CATCH_UP_S", 0.5)
    followers_of = ReplicatedMySQL.followers

    def stop_and_follow(pair):
        ask(pair.replicas[0].endpoint, "STOP SLAVE SQL_THREAD")
        return followers_of(pair)

    monkeypatch.setattr(ReplicatedMySQL, "followers", stop_and_follow)
    end, trial, recorded_run = run(tmp_path, "replicated(mariadb*2)")
    (lag,) = trial.about["replicas"]
    assert (end.state, lag["samples"], lag["p50_s"], lag["caught_up_s"]) == ("complete", 0, None, None)
    assert lag["problem"] == "it had not caught up 0 s after the load"
    (row,) = rows([trial_document(trial, recorded_run, timelines=False)])
    assert row[-1] == lag["problem"]


def test_a_primary_that_is_gone_ends_the_look_at_its_replica(tmp_path):
    need("mariadb")
    end, trial, _ = run(tmp_path, "replicated(mariadb*2)", KillsPrimary())
    (lag,) = trial.about["replicas"]
    assert (end.state, lag["caught_up_s"]) == ("failed", None) and "replicated-1" in trial.reason
