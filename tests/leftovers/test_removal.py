"""Each kind of leftover is removed its own way."""

import os
import subprocess
from pathlib import Path

import pytest

from dbdyno.leftovers import removal
from dbdyno.leftovers.journal import Entries
from dbdyno.leftovers.removal import remove_cgroups, remove_left, users_of
from dbdyno.leftovers.switch import switch_on
from helpers import need_program


def test_everything_is_removed(tmp_path):
    need_program("sleep", "coreutils")
    directory, setting = tmp_path / "left", tmp_path / "setting"
    directory.mkdir()
    setting.write_text("0")
    os.close(switch_on(setting, users_of(setting)))
    inside = subprocess.Popen(["sleep", "600"], cwd=directory)
    left = Entries(directories={directory, tmp_path / "gone"}, mounts={directory / "no"}, switches={setting})
    remove_left(left, ends_now=True)
    assert inside.wait() and not directory.exists() and setting.read_text() == "0"


@pytest.mark.skipif(os.geteuid() != 0, reason="loop devices take root")
def test_a_loop_device_without_a_mount_is_freed(tmp_path, monkeypatch):
    need_program("losetup", "mount")
    monkeypatch.setattr(removal, "_LOOP_TIMEOUT_S", 0.1)
    directory, image = tmp_path / "left", tmp_path / "left" / "image"
    directory.mkdir()
    with image.open("wb") as file:
        file.truncate(1 << 20)
    made = subprocess.run(["losetup", "--find", "--show", image], capture_output=True, text=True, check=True)
    device = made.stdout.strip()
    backing = Path("/sys/block", Path(device).name, "loop/backing_file")
    try:
        assert backing.read_text().strip() == str(image)
        remove_left(Entries(directories={directory}), ends_now=False)
        assert not backing.exists() and not directory.exists()
    finally:
        subprocess.run(["losetup", "--detach", device], check=False, capture_output=True)


def test_what_is_left_in_a_group_is_put_above(tmp_path, monkeypatch):
    group = tmp_path / "dbdyno-x"
    group.mkdir()
    (group / "cgroup.procs").write_text("7\n")
    (tmp_path / "cgroup.procs").touch()
    above = tmp_path / "cgroup.procs"
    # A group goes once nobody is in it, with the files that the kernel put there.
    plain = Path.rmdir

    def rmdir(path):
        if above.read_text() != "7":
            raise OSError("busy")
        (path / "cgroup.procs").unlink(missing_ok=True)
        plain(path)

    monkeypatch.setattr(Path, "rmdir", rmdir)
    assert remove_cgroups([group]) and not group.exists()


def test_the_kernels_own_setting_has_its_users_in_run(tmp_path):
    assert users_of(Path("/proc/sys/kernel/x")) == Path("/run/dbdyno-x.users")
    assert users_of(tmp_path / "x") == tmp_path / "x.users"
