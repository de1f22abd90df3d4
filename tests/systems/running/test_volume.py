"""A file system whose power is cut keeps what was flushed and loses what was not."""

import os
import subprocess
from pathlib import Path

import pytest

from dbdyno.errors import RunFailed
from dbdyno.systems.running import volume
from dbdyno.systems.running.volume import Volume, missing


@pytest.fixture
def cuttable(guard):
    """A mounted volume, where the host permits one."""
    if reason := missing():
        pytest.skip(reason)
    made = Volume(guard)
    yield made
    made.remove()
    assert not made.path.parent.exists()


def written(path, text, flush):
    with path.open("a") as file:
        file.write(text)
        file.flush()
        if flush:
            os.fsync(file.fileno())


def loop_devices_of(folder):
    backing = Path("/sys/block").glob("loop*/loop/backing_file")
    return [file for file in backing if str(folder) in file.read_text()]


def test_a_power_cut_loses_what_was_not_flushed(cuttable):
    written(cuttable.path / "old", "old", flush=False)
    cuttable.sync()
    written(cuttable.path / "new", "flushed", flush=True)
    written(cuttable.path / "new", " and not", flush=False)
    written(cuttable.path / "lost", "lost", flush=False)
    cuttable.cut()
    with pytest.raises(OSError, match="Input/output"):
        written(cuttable.path / "late", "late", flush=False)
    cuttable.restore()
    assert (cuttable.path / "old").read_text() == "old"
    assert (cuttable.path / "new").read_text() == "flushed"
    lost = cuttable.path / "lost"
    assert not lost.exists() or lost.read_text() == ""


def test_a_mount_namespace_that_has_it_too_does_not_keep_its_power_off(cuttable):
    written(cuttable.path / "old", "old", flush=True)
    # A network namespace that is entered meanwhile has copies of all mounts, like this.
    command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", "echo there; exec sleep 60"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as other:
        try:
            assert other.stdout.readline() == b"there\n"
            cuttable.cut()
            cuttable.restore()
            written(cuttable.path / "new", "new", flush=True)
            assert (cuttable.path / "old").read_text() == "old"
        finally:
            other.kill()


def test_what_the_host_does_not_permit_is_said(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert missing() == "it mounts a file system, which takes root"


def test_a_program_that_fails_is_quoted():
    with pytest.raises(RunFailed, match=r"ls: .*/nowhere"):
        volume._run("ls", "/nowhere")


def test_a_guard_that_is_left_alone_unmounts(guard):
    if reason := missing():
        pytest.skip(reason)
    left = Volume(guard)
    guard.__exit__()
    assert not loop_devices_of(left.path.parent)
    assert str(left.path) not in subprocess.run(["mount"], capture_output=True, text=True, check=True).stdout
    assert not left.path.parent.exists()
    guard.__enter__()
