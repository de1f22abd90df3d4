"""Samples of a live view come one by one, and nothing is written."""

import os

from dbdyno.observe.live import LiveObserver
from dbdyno.observe.observer import Observed


def test_samples_come_while_it_watches(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    observer = LiveObserver(Observed({"me": os.getpid()}))
    with observer.watching(None, False):
        first, second = (observer.samples.get(timeout=60) for _ in range(2))
    assert first["at_unix_s"] < second["at_unix_s"]
    assert second["process.me.threads"] >= 1 and "host.cpu_user_s_total" in second
    assert list(tmp_path.iterdir()) == []
