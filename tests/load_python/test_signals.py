"""The first signal asks for the end, the second one is the end."""

import os
import signal

import pytest

from dbdyno.load_python import signals


@pytest.fixture(autouse=True)
def restored(monkeypatch):
    """Leave signals as they were."""
    before = [(number, signal.getsignal(number)) for number in (signal.SIGINT, signal.SIGTERM)]
    monkeypatch.setattr(signals, "_came", [])
    yield
    for number, handler in before:
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_is_noted_and_the_second_ends_the_program(number, monkeypatch):
    left = []
    monkeypatch.setattr(os, "_exit", left.append)
    signals.listen()
    assert not signals.stop_requested()
    signal.raise_signal(number)
    assert signals.stop_requested() and not left
    signal.raise_signal(number)
    assert left == [130]
