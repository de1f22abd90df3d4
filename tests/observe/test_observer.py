"""A trial is observed from its client's start to its end, whatever cannot be seen."""

import os
import subprocess

import numpy as np
import pytest

from dbdyno.errors import RunFailed
from dbdyno.observe import observer as observer_module
from dbdyno.observe.observer import Observed, Observer
from dbdyno.results.observations import read_observations
from helpers import wait_until
from observe.test_store import FakeProbe


@pytest.fixture
def client():
    process = subprocess.Popen(["sleep", "600"])
    yield process
    process.kill()
    process.wait()


@pytest.fixture
def observe(tmp_path, client, monkeypatch):
    """Observe this process as a server until there are some samples, and return them."""
    monkeypatch.setattr(observer_module, "PERIOD_S", 0.25)
    monkeypatch.setattr(observer_module, "LOOK_PERIOD_S", 0.01)

    def run(observed, samples=4):
        observer = Observer(observed, tmp_path)
        with observer.watching(client.pid, False):
            wait_until(lambda: len(read_observations(tmp_path).at_unix_s) >= samples if _begun(tmp_path) else False)
        return observer, read_observations(tmp_path)

    return run


def _begun(folder):
    return (folder / "observations.jsonl").exists()


def test_every_band_is_there(observe, tmp_path):
    probe = FakeProbe(({"cpu": 0, "client": 3}, {}))
    observer, seen = observe(Observed({"fake": os.getpid()}, frozenset(), [tmp_path], [probe]))
    bands = {name.split(".")[0] for name in seen.names()}
    assert {"host", "network", "process", "store", "waits"} <= bands
    assert {name.split(".")[1] for name in seen.names("process.")} == {"fake", "client"}
    assert (np.diff(seen.at_unix_s) >= 0).all()
    states = np.array([seen.columns[name] for name in seen.names("waits.fake.")])
    assert np.nanmax(states.sum(axis=0)) == pytest.approx(3, 1e-3)
    assert observer.cpu_s > 0 and probe.closed
    observer.stop()


def test_a_server_that_dies_is_not_seen_from_then_on(observe):
    ended = subprocess.Popen(["sleep", "600"])
    ended.kill()
    ended.wait()
    _, seen = observe(Observed({"fake": ended.pid}))
    assert seen.names("process.fake") == () and seen.names("process.client")


def test_a_band_that_fails_now_leaves_the_others(observe, monkeypatch):
    def fails(self):
        raise OSError("not now")

    monkeypatch.setattr(observer_module.NetworkSampler, "sample", fails)
    _, seen = observe(Observed())
    assert seen.names("network.") == () and seen.names("host.")


def test_a_store_that_does_not_answer_leaves_the_others(observe):
    probe = FakeProbe()
    probe.fails = True
    observer, seen = observe(Observed(probes=[probe]))
    assert observer.not_seen["store.fake"] == str(RunFailed("fake does not answer"))
    assert seen.names("store.") == () and seen.names("host.")


def test_a_full_disk_ends_observing_and_says_so(observe, monkeypatch, tmp_path, client):
    def full(self, content):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(observer_module.Lines, "append_object", full)
    observer = Observer(Observed(), tmp_path)
    with observer.watching(client.pid, False):
        wait_until(lambda: "observations" in observer.not_seen)
    assert "No space left" in observer.not_seen["observations"]


def test_one_that_watched_nothing_can_be_stopped(tmp_path):
    probe = FakeProbe()
    Observer(Observed(probes=[probe]), tmp_path).stop()
    assert probe.closed == 1


def test_threads_and_sockets_are_looked_at_before_a_server_is_asked(observe, monkeypatch):
    order = []

    def noting(owner, name, what):
        does = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda self: (order.append(what), does(self))[1])

    noting(observer_module.Observer, "_look_at_queues", "sockets")
    noting(observer_module.ThreadStates, "look", "threads")
    noting(observer_module.StoreWatch, "ask", "server")
    observe(Observed({"fake": os.getpid()}, probes=[FakeProbe()]), samples=1)
    assert order[:3] == ["sockets", "threads", "server"]


def test_how_long_an_empty_request_took_before_the_load_is_with_each_sample(tmp_path):
    probe = FakeProbe()
    probe.round_trip_s = 0.04
    observer = Observer(Observed(probes=[probe]), tmp_path)
    assert observer.sample()["queue.fake.empty_round_trip_s"] == 0.04
    observer.stop()


def test_a_store_that_shows_its_waits_but_not_now_has_none_now(tmp_path):
    probe = FakeProbe(({"cpu": 0, "client": 3}, {}))
    observer = Observer(Observed({"fake": os.getpid()}, probes=[probe]), tmp_path)
    assert not any(name.startswith("waits.") for name in observer.sample())
    observer.stop()
