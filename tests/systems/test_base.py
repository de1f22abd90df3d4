"""A system that overrides nothing."""

import pytest

from dbdyno.systems.base import System, numbers_of
from fakes.system import FakeSystem
from helpers import system


def test_a_system_without_servers_has_none(fake_system):
    fake = system("fake")
    assert isinstance(fake, FakeSystem)
    assert fake.server_name == "fake" and not fake.embedded
    assert System.server_pids(fake) == {} and System.counters(fake) == {}
    assert System.forking(fake) == frozenset() and System.data_directories(fake) == () and System.probes(fake) == []
    assert System.missing() is None and System.death(fake) is None


def test_numbers_are_picked_and_made_whole():
    assert numbers_of({"a": "3", "b": b"4", "c": "x"}, ("a", "b", "d")) == {"a": 3, "b": 4}


def test_what_caches_hold_is_known_of_what_dbdyno_started(monkeypatch, fake_system):
    fake = system("fake")
    assert (fake.cache_state(False), fake.cache_state(True)) == ("hot", "lukewarm")
    monkeypatch.setattr(type(fake.spec), "attached", True)
    assert fake.cache_state(False) is None
    with pytest.raises(NotImplementedError):
        System.keep(fake)
    assert not System.restorable.fget(fake)
