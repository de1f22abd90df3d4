"""Work that is waited for ends, or is cancelled."""

import os
import signal
import threading

import pytest

from dbdyno.conduct.waiting import wait_for


def test_what_work_returns_is_returned(context):
    assert wait_for(context(), lambda: 7, lambda: None, 60) == 7


def test_what_work_raises_is_raised(context):
    with pytest.raises(ZeroDivisionError):
        wait_for(context(), lambda: 1 / 0, lambda: None, 60)


def test_work_that_takes_too_long_is_cancelled(context):
    cancelled = threading.Event()
    with pytest.raises(TimeoutError):
        wait_for(context(), cancelled.wait, cancelled.set, 0)


def test_a_signal_cancels_work(context):
    begun, cancelled = threading.Event(), threading.Event()

    def work():
        os.kill(os.getpid(), signal.SIGINT)
        begun.set()
        cancelled.wait()

    with pytest.raises(KeyboardInterrupt):
        wait_for(context(), work, cancelled.set, 60)
    assert begun.is_set() and cancelled.is_set()
