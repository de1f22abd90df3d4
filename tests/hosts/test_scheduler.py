"""Workers send a third of the heartbeats after which they would be given up."""

import pytest
from distributed import Scheduler

from dbdyno.hosts.scheduler import RunScheduler


@pytest.mark.parametrize(("of_dask_s", "interval_s"), [(0.5, 10 / 3), (2.0, 20 / 3)])
def test_a_worker_is_asked_for_a_third_of_the_heartbeats_that_dask_waits_for(monkeypatch, of_dask_s, interval_s):
    answer = {"status": "OK", "time": 1.0, "heartbeat-interval": of_dask_s}
    monkeypatch.setattr(Scheduler, "heartbeat_worker", lambda self, **about: answer)
    answered = RunScheduler.heartbeat_worker(object.__new__(RunScheduler), address="tls://127.0.0.1:1", metrics={})
    assert answered == answer | {"heartbeat-interval": interval_s}


def test_an_unknown_worker_is_told_so(monkeypatch):
    monkeypatch.setattr(Scheduler, "heartbeat_worker", lambda self, **about: {"status": "missing"})
    assert RunScheduler.heartbeat_worker(object.__new__(RunScheduler), address="tls://127.0.0.1:1", metrics={}) == {
        "status": "missing"
    }
