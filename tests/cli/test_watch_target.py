"""A person names a process, a system or a URL, and learns what to name instead if that is not enough."""

import os
import shutil
import subprocess

import pytest

from dbdyno.cli.watch_target import opened
from dbdyno.errors import UserError
from helpers import wait_until


@pytest.fixture
def pretended(tmp_path):
    """Two processes of a program that has the name of a server, and is none."""
    program = tmp_path / "valkey-server"
    shutil.copy("/bin/sleep", program)
    with subprocess.Popen([program, "600"]) as first, subprocess.Popen([program, "600"]) as second:
        wait_until(lambda: all(comm(process.pid) == "valkey-server" for process in (first, second)))
        yield first, second
        first.kill()
        second.kill()


def comm(pid):
    with open(f"/proc/{pid}/comm") as file:
        return file.read().strip()


def test_a_number_names_a_process():
    with opened(str(os.getpid())) as target:
        assert list(target.observed.pids.values()) == [os.getpid()] == [target.pid]
        assert target.title.endswith(f", process {os.getpid()}") and not target.observed.probes


def test_a_name_that_fits_two_processes_names_their_numbers(pretended):
    with pytest.raises(UserError) as refusal, opened("valkey"):
        pass
    assert all(str(process.pid) in str(refusal.value) for process in pretended)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mariad", "'mariad' is not a system that can be watched by its name; did you mean 'mariadb'?"),
        ("9" * 40, "there is no process 999"),
        ("", "'' is not a system that can be watched"),
    ],
)
def test_what_is_nothing_is_refused(text, words):
    with pytest.raises(UserError) as refusal, opened(text):
        pass
    assert words in str(refusal.value)
