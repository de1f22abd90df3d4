"""A run's folder is locked while the run goes on, and free after any end of it."""

import signal
import subprocess
import sys

import pytest

from dbdyno.errors import UserError
from dbdyno.results.lock import is_running, locked

HOLD = """
import sys
from pathlib import Path
from dbdyno.results.lock import locked
with locked(Path(sys.argv[1])):
    print("locked", flush=True)
    sys.stdin.read()
"""


def test_only_one_process_has_a_folder(tmp_path):
    with locked(tmp_path):
        assert is_running(tmp_path)
        with pytest.raises(UserError, match="still going on"), locked(tmp_path):
            pass
    assert not is_running(tmp_path)


def test_a_killed_process_has_it_no_longer(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdout.readline() == "locked\n" and is_running(tmp_path)
        process.send_signal(signal.SIGKILL)
    with locked(tmp_path):
        pass


def test_a_file_system_without_locks_keeps_nobody_out(tmp_path, monkeypatch):
    def unsupported(descriptor, operation):
        raise OSError("no locks available")

    monkeypatch.setattr("fcntl.flock", unsupported)
    with locked(tmp_path):
        assert not is_running(tmp_path)
