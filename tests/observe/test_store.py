"""A server is asked on its own thread, and one that fails or hangs holds nothing up."""

import threading
import time
from functools import partial
from types import SimpleNamespace

import pytest

from dbdyno.errors import RunFailed
from dbdyno.observe import store
from dbdyno.observe.store import Spared, StoreWatch
from helpers import wait_until


class FakeProbe:
    """Answers at once, unless told to fail, or to hang until it is released."""

    server = "fake"
    answered_by = None
    round_trip_s = 0.0

    def __init__(self, waits=None, not_shown=()):
        self.not_shown = dict(not_shown)
        self.last_waits = waits
        self.known = None
        self.opened = self.closed = self.asked = 0
        self.fails = False
        self.released = threading.Event()
        self.released.set()

    def open(self):
        self.opened += 1
        self.counters()

    def counters(self):
        self.released.wait(30)
        if self.fails:
            raise RunFailed("fake does not answer")
        self.asked += 1
        return {"commands_total": self.asked}

    def waits(self):
        self.released.wait(30)
        time.sleep(0.0001)
        return self.last_waits

    def locks(self):
        time.sleep(0.0001)
        return {"latch_waits_total": self.asked}

    def known_locks(self):
        return self.known

    def close(self):
        self.closed += 1


@pytest.fixture
def watch(monkeypatch):
    monkeypatch.setattr(store, "RETRY_S", 0.01)
    monkeypatch.setattr(store, "STOP_S", 0.1)
    begun = []

    def begin(probe):
        begun.append((StoreWatch(probe, not_seen := {}), probe))
        begun[-1][0].start()
        return begun[-1][0], not_seen

    yield begin
    for store_watch, probe in begun:
        probe.released.set()
        store_watch.stop()


def answered(store_watch):
    store_watch.ask()
    return store_watch.take()


def test_counters_come_when_they_are_asked_for(watch):
    store_watch, not_seen = watch(FakeProbe())
    assert wait_until(lambda: answered(store_watch)[0])["store.fake.commands_total"] > 1
    assert not_seen == {}


def test_waits_are_the_mean_of_what_came_since(watch):
    store_watch, _ = watch(FakeProbe(({"client": 3, "lock": 1}, {"locks": 1, "a row": 1})))
    columns, states = wait_until(lambda: (seen := store_watch.take())[1] and seen)
    assert states == {"client": 3, "lock": 1}
    assert columns == {"locks.fake.locks": 1, "locks.fake.a row": 1}


def test_what_is_known_of_single_locks_comes_with_the_counters(watch):
    store_watch, _ = watch(FakeProbe())
    columns = wait_until(lambda: answered(store_watch)[0])
    assert columns["locks.fake.latch_waits_total"] == columns["store.fake.commands_total"]


def test_what_counters_tell_of_single_locks_is_not_asked_for(watch):
    probe = FakeProbe()
    probe.known, probe.locks = {"row locks": 0.0}, None
    store_watch, _ = watch(probe)
    assert wait_until(lambda: answered(store_watch)[0])["locks.fake.row locks"] == 0.0


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until a test sets it; nothing is computed meanwhile."""
    now_s = [100.0]
    monkeypatch.setattr(store, "time", SimpleNamespace(monotonic=lambda: now_s[0], thread_time=lambda: 0.0))

    def go_on(seconds):
        now_s[0] += seconds

    return go_on


def test_what_costs_a_server_much_is_asked_for_less_often(clock):
    spared = Spared(0.01, 5.0)
    for lasted_s, pause_s in ((0.002, 0.2), (0.3, 0.2), (0.001, 0.1)):
        assert spared.due
        spared.ask(partial(clock, lasted_s))
        # The second one waited for a processor for most of the time.
        assert spared.pause_s == pytest.approx(pause_s)
        assert spared.due == (lasted_s == 0.3)
        clock(1)

    def fail():
        raise RunFailed("no answer")

    with pytest.raises(RunFailed):
        spared.ask(fail)
    assert spared.due


def test_a_servers_distance_is_no_cost_of_its_own(clock):
    spared = Spared(0.01, 5.0)
    spared.way_s = 0.04
    for lasted_s, pause_s in ((0.042, 0.2), (0.041, 0.1), (0.039, 0.0)):
        spared.ask(partial(clock, lasted_s))
        assert spared.pause_s == pytest.approx(pause_s)


def test_it_is_known_how_far_a_server_is(watch):
    probe = FakeProbe(({"client": 1}, {}))
    probe.round_trip_s = 0.04
    store_watch, _ = watch(probe)
    wait_until(lambda: store_watch.take()[1])
    assert store_watch._spared_waits.way_s == store_watch._spared_locks.way_s == 0.04


def test_what_is_known_of_answerings_cost_goes_before_how_long_it_took(clock):
    computed_s = iter((1.0, 1.002, 1.006, None))
    spared = Spared(0.01, 5.0, lambda: next(computed_s))
    for pause_s in (1.0, 0.2, 0.3, 0.3):
        spared.ask(partial(clock, 0.01))
        assert spared.pause_s == pytest.approx(pause_s)
    idle = Spared(0.01, 5.0, lambda: 1.0)
    for _ in range(3):
        idle.ask(partial(clock, 0.01))
    assert idle.pause_s == pytest.approx(1.0), "another thread has answered"


def test_however_much_it_costs_it_is_asked_now_and_then(clock):
    spared = Spared(0.01, 5.0)
    for _ in range(store.LAST):
        spared.ask(partial(clock, 1))
        assert spared.pause_s == 5 and not spared.due
        clock(4)
    assert spared.due


def test_a_watch_that_is_answered_slowly_asks_less_often(watch, monkeypatch):
    monkeypatch.setattr(store, "WAITS_SHARE", 1e-9)
    monkeypatch.setattr(store, "LOCKS_SHARE", 1e-9)
    store_watch, _ = watch(FakeProbe(({"client": 3}, {})))
    wait_until(lambda: store_watch.take()[1])
    wait_until(lambda: answered(store_watch)[0].get("locks.fake.latch_waits_total"))
    columns, states = answered(store_watch)
    assert columns.keys() == {"store.fake.commands_total"} and states == {}
    assert (store_watch._spared_waits.pause_s, store_watch._spared_locks.pause_s) == (
        store.WAITS_PAUSE_S,
        store.LOCKS_PAUSE_S,
    )


def test_one_that_cannot_be_asked_is_told_and_left_alone(watch):
    probe = FakeProbe()
    probe.fails = True
    store_watch, not_seen = watch(probe)
    assert not_seen == {"store.fake": "fake does not answer"} and probe.closed
    assert answered(store_watch) == ({}, {})


def test_what_is_not_shown_is_told(watch):
    _, not_seen = watch(FakeProbe(not_shown={"waits.fake.lock": "this user may not"}))
    assert not_seen == {"waits.fake.lock": "this user may not"}


def test_one_that_comes_back_is_asked_again(watch):
    probe = FakeProbe()
    store_watch, _ = watch(probe)
    probe.fails = True
    store_watch.ask()
    wait_until(lambda: probe.closed)
    probe.fails = False
    assert wait_until(lambda: answered(store_watch)[0])
    assert probe.opened >= 2


def test_one_that_hangs_from_the_beginning_is_told(watch, monkeypatch):
    monkeypatch.setattr(store, "OPEN_S", 0.05)
    probe = FakeProbe()
    probe.released.clear()
    store_watch, not_seen = watch(probe)
    assert "did not answer within" in not_seen["store.fake"]
    assert answered(store_watch) == ({}, {})


def test_one_that_hangs_is_not_waited_for(watch, monkeypatch):
    monkeypatch.setattr(store, "ANSWER_S", 0.01)
    probe = FakeProbe(({"client": 1}, {}))
    store_watch, _ = watch(probe)
    wait_until(lambda: store_watch.take()[1])
    probe.released.clear()
    wait_until(lambda: store_watch.take() == ({}, {}))
    store_watch.ask()
    assert store_watch.take() == ({}, {})
    store_watch.stop()
    assert store_watch._thread.is_alive()
