"""Builds and configuration files that cannot be used: one or two lines, status 2, nothing left behind."""

import json
import os
import re
import shutil
import tempfile
from pathlib import Path

import psutil
import pytest

from helpers import need
from systems.builds.scripts import copied, script

SMALL = ("--clients", "1", "--seconds", "1", "--rows", "10", "--set", "ceiling=false")
VERSION = 'case "$1" in --version) echo Redis server v=7; exit;; esac'


@pytest.fixture
def folder():
    """A folder that the user of servers gets to."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def refused(dbdyno, folder, monkeypatch):
    """Return a function that runs a system, and gives what is said if nothing of the run is left."""
    scratch = folder / "scratch"
    scratch.mkdir()
    scratch.chmod(0o777)
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))

    def say(system):
        status, out, err = dbdyno("run", "point-get", "--system", system, *SMALL)
        assert (status, out) == (2, ""), out + err
        assert list(scratch.iterdir()) == [] and not Path("runs").exists()
        started = [process.pid for process in psutil.Process().children(recursive=True)]
        assert [pid for pid in started if _is_of(pid, folder)] == []
        lines = err.splitlines()
        assert len(lines) <= 2 and lines[0].startswith("dbdyno: redis"), err
        return err

    return say


def _is_of(pid, folder):
    try:
        return any(str(folder) in word for word in psutil.Process(pid).cmdline())
    except psutil.Error:
        return False


def test_a_directory_without_a_server(refused, folder):
    assert "is a directory: give the program" in refused(f"redis?binary={folder}")
    assert "there is no such file" in refused(f"redis?binary={folder}/redis-server")


def test_a_binary_of_another_architecture(refused, folder):
    program = Path("/bin/ls").read_bytes()
    (folder / "redis-server").write_bytes(program[:18] + (183).to_bytes(2, "little") + program[20:])
    assert "is a program for aarch64, and this host is" in refused(f"redis?binary={folder}/redis-server")


def test_a_binary_of_another_user(refused, folder):
    need("redis")
    program = copied(shutil.which("redis-server"), folder)
    program.chmod(0o700 if os.geteuid() == 0 else 0o000)
    assert re.search("is closed to others: make it|is not executable", refused(f"redis?binary={program}"))


def test_a_build_that_does_not_start(refused, folder):
    program = script(folder / "redis-server", f'{VERSION}; echo "FATAL: no luck today"; exit 1')
    assert "redis did not start: FATAL: no luck today" in refused(f"redis?binary={program}")


def test_a_configuration_it_refuses(refused, folder):
    need("redis")
    (folder / "its.conf").write_text("bogus 1\n")
    (folder / "its.conf").chmod(0o644)
    assert "Bad directive" in refused(f"redis?config={folder}/its.conf")
    assert "no such file" in refused(f"redis?config={folder}/none.conf")


def test_options_that_dbdyno_needs_itself(refused, folder):
    need("redis")
    (folder / "its.conf").write_text("port 6379\ndir /var/lib/redis\n")
    assert "sets port, dir, which dbdyno sets" in refused(f"redis?config={folder}/its.conf")
    assert "port" in refused(f"redis?binary={shutil.which('redis-server')}&port=7")


def test_a_build_that_is_replaced_while_the_run_lasts_fails_its_trials(dbdyno, folder):
    need("redis")
    program = copied(shutil.which("redis-server"), folder)
    script(folder / "other", VERSION)
    swap = f"mv {folder}/other {program}"
    Path("swap.toml").write_text(
        f'workload = "point-get"\nsystem = "redis?binary={program}"\nrows = 10\nclients = 1\nseconds = 5\n'
        f'repeat = 2\n[[events]]\nat = 3\nname = "deploy"\ncommand = "{swap}"\n'
    )
    status, out, err = dbdyno("run", "swap.toml", "--warmup", "0", "--set", "ceiling=false")
    replaced = f"{program} was replaced by another build"
    assert status == 2 and replaced in " ".join((out + err).split())
    (run,) = Path("runs").iterdir()
    trials = [json.loads((folder / "trial.json").read_text()) for folder in sorted((run / "trials").iterdir())]
    assert [(trial["state"], trial["reason"]) for trial in trials] == [
        ("failed", f"{replaced} during the trial"),
        ("failed", replaced),
    ]
