"""A signal ends what runs in order, and what was before comes back."""

import os
import signal
import subprocess

import pytest

from dbdyno.conduct.interrupt import Interrupts


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_without_a_load_client_it_interrupts(number):
    # Tests that run behind nohup have SIGHUP ignored.
    usual = signal.signal(number, signal.default_int_handler)
    try:
        _interrupts(number)
    finally:
        signal.signal(number, usual)


def _interrupts(number):
    before = signal.getsignal(number)
    with Interrupts() as interrupts:
        assert not interrupts.requested
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
        assert interrupts.requested
    assert signal.getsignal(number) is before


def test_with_one_it_is_passed_on_as_sigint():
    # Whoever runs the tests in the background of a script may have SIGINT ignored, which children inherit.
    usual = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        process = subprocess.Popen(["sleep", "600"])
    finally:
        signal.signal(signal.SIGINT, usual)
    with Interrupts() as interrupts:
        with interrupts.passed_to(process.pid):
            os.kill(os.getpid(), signal.SIGTERM)
            assert process.wait() == -signal.SIGINT
            os.kill(os.getpid(), signal.SIGTERM)
        assert interrupts.requested
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_where_it_is_only_noted_nothing_is_raised():
    with Interrupts() as interrupts:
        with interrupts.noted():
            os.kill(os.getpid(), signal.SIGTERM)
        assert interrupts.requested
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
