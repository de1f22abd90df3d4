"""Servers of this host are found by number and by program, without what they forked."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dbdyno.observe.servers import running, server_of
from helpers import wait_until

FORKS = "import os, time; os.fork(); time.sleep(600)"


@pytest.fixture
def forking(tmp_path):
    """A process with a program name of its own that has forked."""
    program = tmp_path / "dyno-forks"
    shutil.copy(Path(sys.executable).resolve(), program)
    with subprocess.Popen([program, "-c", FORKS], cwd=tmp_path, start_new_session=True, env=_environment()) as process:
        yield process
        os.killpg(process.pid, 9)


def _environment():
    return os.environ | {"PYTHONHOME": sys.base_prefix}


def test_a_process_that_forked_is_there_once(forking, tmp_path):
    wait_until(lambda: (server := server_of(forking.pid)) and server.name == "dyno-forks" and server.forks)
    (server,) = running(["dyno-forks"])
    assert (server.pid, server.name, server.directory, server.forks) == (forking.pid, "dyno-forks", tmp_path, True)


def test_there_is_no_process_of_a_number_that_is_free():
    with subprocess.Popen(["true"]) as process:
        pass
    assert server_of(process.pid) is None and running(["no-such-program"]) == []


def test_names_have_no_points(tmp_path):
    program = tmp_path / "a.b"
    shutil.copy("/bin/sleep", program)
    with subprocess.Popen([program, "600"]) as process:
        try:
            wait_until(lambda: (server := server_of(process.pid)) and server.name == "a-b")
        finally:
            process.kill()
