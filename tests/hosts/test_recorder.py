"""A keeper's recording is read piece by piece, and leaves nothing."""

import os

import pytest

from dbdyno.errors import UserError
from dbdyno.hosts import recorder as module
from dbdyno.hosts.recorder import Recorder
from helpers import need_stacks, wait_until


def test_stacks_are_read_piece_by_piece(guard, monkeypatch):
    need_stacks()
    monkeypatch.setattr(module, "PIECE", 100)
    recorder = Recorder(guard, {"server": os.getpid()}, 0.5)
    try:
        assert wait_until(lambda: recorder.is_over or not sum(range(1_000_000)))
        said = recorder.end()
        assert said["stacks"]["server-on-cpu"]["samples"] > 0 and said["failed"] == {}
        whole = (recorder._folder / "server-on-cpu.folded").read_text()
        pieces = [recorder.read("server-on-cpu", begin) for begin in range(0, len(whole) + 100, 100)]
        assert "".join(pieces) == whole and len(pieces[0]) == 100 and pieces[-1] == ""
    finally:
        recorder.close()
    assert not recorder._folder.exists()


@pytest.mark.parametrize("name", ["server-on-cpu", "../server-on-cpu"])
def test_what_was_not_recorded_is_not_read(guard, name):
    recorder = Recorder(guard, {}, 0.1)
    try:
        assert recorder.end() == {"stacks": {}, "failed": {}, "events_per_s": {}}
        with pytest.raises(UserError, match="no stacks"):
            recorder.read(name, 0)
    finally:
        recorder.close()
