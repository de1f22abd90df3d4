"""A limit is a limit, or is refused, and what was limited for a while is afterwards as it was."""

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from dbdyno.errors import UserError
from dbdyno.observe.disk import device_of
from dbdyno.systems.base import Launch
from dbdyno.systems.running import cgroup
from dbdyno.systems.running.cgroup import ControlGroup, cpu_limit, disk_limit, limited, memory_limit
from helpers import need, system

LIMIT_BYTES = 64 << 20


@pytest.fixture
def sleeper():
    """A process that does nothing."""
    process = subprocess.Popen(["sleep", "60"])
    yield process.pid
    process.kill()
    process.wait()


def need_groups(limit, guard):
    try:
        ControlGroup(limit, guard).remove()
    except UserError as error:
        pytest.skip(str(error))


def groups_of(pid):
    return Path(f"/proc/{pid}/cgroup").read_text()


def test_where_no_group_can_be_made_it_is_said(guard, monkeypatch, tmp_path):
    monkeypatch.setattr(cgroup, "_parents", lambda limit: [(tmp_path, 1), (tmp_path, 2)])
    with pytest.raises(UserError, match="does not let dbdyno limit memory"):
        ControlGroup(memory_limit(LIMIT_BYTES), guard)
    assert not list(tmp_path.iterdir())


def test_a_server_is_held_to_its_limit(guard, tmp_path):
    need("redis")
    need_groups(memory_limit(LIMIT_BYTES), guard)
    redis = system("redis")
    try:
        redis.start(Launch(guard, tmp_path, clients=1, rows=1, memory_limit_bytes=LIMIT_BYTES))
        group = redis._server._limit.path
        limits = [path for name in ("memory.max", "memory.limit_in_bytes") if (path := group / name).exists()]
        assert int(limits[0].read_text()) == LIMIT_BYTES
        assert str(redis.server_pids()["redis"]) in (group / "cgroup.procs").read_text().split()
    finally:
        redis.stop()
    assert not group.exists()


def test_a_process_is_limited_for_a_while(guard, sleeper):
    need_groups(cpu_limit(0.5), guard)
    before = groups_of(sleeper)
    with limited([sleeper], cpu_limit(0.5), guard):
        group, version = cgroup._group_of(sleeper, cpu_limit(0.5))
        said = [(group / name).read_text().strip() for name in cgroup._files(cpu_limit(0.5), version)]
        assert said in (["100000", "50000"], ["50000 100000"])
        with limited([sleeper], cpu_limit(0.4), guard):
            assert cgroup._group_of(sleeper, cpu_limit(0.4))[0] == group
            assert "40000" in (group / name_of_quota(version)).read_text()
        assert "50000" in (group / name_of_quota(version)).read_text()
    assert groups_of(sleeper) == before and not group.exists()


def name_of_quota(version):
    return "cpu.cfs_quota_us" if version == 1 else "cpu.max"


def test_a_quota_holds(guard):
    need_groups(cpu_limit(0.2), guard)
    with subprocess.Popen(["sh", "-c", "while :; do :; done"]) as loop:
        try:
            with limited([loop.pid], cpu_limit(0.2), guard):
                group, _ = cgroup._group_of(loop.pid, cpu_limit(0.2))
                while b"nr_throttled 0\n" in (said := (group / "cpu.stat").read_bytes()):
                    time.sleep(0.02)
                assert b"nr_throttled" in said
        finally:
            loop.kill()


@pytest.mark.parametrize(
    ("limit", "version", "files"),
    [
        (cpu_limit(0.5), 2, {"cpu.max": "50000 100000"}),
        (cpu_limit(0.0001), 1, {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "1000"}),
        (disk_limit("8:0", {"read_iops": 100}), 1, {"blkio.throttle.read_iops_device": "8:0 100"}),
        (disk_limit("8:0", {"read_bps": 100, "write_iops": 0.3}), 2, {"io.max": "8:0 rbps=100 wiops=1"}),
        (memory_limit(7), 2, {"memory.max": "7", "memory.swap.max": "0"}),
    ],
)
def test_what_is_written(limit, version, files):
    assert dict(cgroup._files(limit, version)) == files


@pytest.mark.parametrize(
    ("before", "written", "restored"),
    [
        ("-1\n", "50000", "-1"),
        ("max 100000\n", "50000 100000", "max 100000"),
        ("", "8:0 100", "8:0 0"),
        ("8:16 7\n8:0 200\n", "8:0 100", "8:0 200"),
        ("", "8:0 riops=100 wiops=1", "8:0 riops=max wiops=max"),
        ("8:0 rbps=max wbps=max riops=5 wiops=max\n", "8:0 riops=4", "8:0 rbps=max wbps=max riops=5 wiops=max"),
    ],
)
def test_what_restores_a_file(before, written, restored):
    assert cgroup._as_written(before, written) == restored


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("io.stat", "8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=5 dios=6\n8:16 rbytes=1 wbytes=2 rios=3 wios=9\n"),
        ("blkio.throttle.io_serviced", "8:16 Write 9\n8:0 Read 3\n8:0 Write 4\n8:0 Total 7\nTotal 16\n"),
    ],
)
def test_writes_of_a_group_are_counted_by_device(file, text, tmp_path):
    (tmp_path / file).write_text(text)
    assert [cgroup.writes_to([tmp_path], device) for device in ("8:0", "8:16", "8:1")] == [4, 9, 0]


def test_what_a_process_writes_is_told_from_what_others_do(guard, tmp_path):
    device = device_of(tmp_path)
    if device is None:
        pytest.skip("temporary files do not lie on a disk")
    number = (device / "dev").read_text().strip()
    unlimited = disk_limit(number, {"write_iops": 1e9})
    need_groups(unlimited, guard)
    with limited([os.getpid()], unlimited, guard) as groups:
        before = cgroup.writes_to(groups, number)
        with (tmp_path / "log").open("wb", buffering=0) as log:
            for _ in range(20):
                log.write(b"x" * 4096)
                os.fdatasync(log.fileno())
        assert cgroup.writes_to(groups, number) - before >= 20


def test_in_version_2_what_is_limited_already_is_limited_further(guard, monkeypatch, tmp_path):
    group = tmp_path / "dbdyno-x"
    group.mkdir()
    # The file must have the length of what is written: unlike a control group's, it keeps what lies beyond.
    (group / "cpu.max").write_text("999999 100000")
    monkeypatch.setattr(cgroup, "_group_of", lambda pid, limit: (group, 2))
    with limited([os.getpid()], cpu_limit(1.5), guard):
        assert (group / "cpu.max").read_text() == "150000 100000"
    assert (group / "cpu.max").read_text() == "999999 100000"


@pytest.fixture
def version2(monkeypatch, tmp_path):
    """A tree of version 2 in files, as cgroup-v2.rst has it: a group has the files of what its parent passes on.

    Returns the group this process is in.
    """
    own = tmp_path / "user.slice" / "own.scope"
    own.mkdir(parents=True)
    (tmp_path / "cgroup.controllers").write_text("cpu io memory")
    for group in (tmp_path, own.parent, own):
        (group / "cgroup.procs").touch()
        (group / "cgroup.subtree_control").touch()

    def make(guard, dir):
        group = Path(dir) / "dbdyno-made"
        group.mkdir()
        files = {"cpu": ["cpu.max"], "io": ["io.max"], "memory": ["memory.max", "memory.swap.max"]}
        passed_on = (Path(dir) / "cgroup.subtree_control").read_text().split()
        for name in ["cgroup.procs", *(file for controller in passed_on for file in files[controller])]:
            (group / name).touch()
        return group

    monkeypatch.setattr(cgroup, "_ROOT", tmp_path)
    monkeypatch.setattr(cgroup, "_memberships", lambda process: ["0::/user.slice/own.scope"])
    monkeypatch.setattr(cgroup.Guard, "new_cgroup", make)
    # A control group is removed with the files the kernel put there.
    monkeypatch.setattr(Path, "rmdir", shutil.rmtree)
    return own


@pytest.mark.parametrize(
    ("limit", "files"),
    [
        (cpu_limit(0.5), {"cpu.max": "50000 100000"}),
        (memory_limit(LIMIT_BYTES), {"memory.max": "67108864", "memory.swap.max": "0"}),
        (disk_limit("254:0", {"read_iops": 400, "write_iops": 80}), {"io.max": "254:0 riops=400 wiops=80"}),
        (disk_limit("254:0", {"read_bps": 8e6}), {"io.max": "254:0 rbps=8000000"}),
    ],
)
def test_in_version_2_the_files_are_those_of_its_documentation(guard, version2, limit, files):
    (version2 / "cgroup.subtree_control").write_text("cpu io memory")
    with limited([4711], limit, guard):
        (group,) = version2.glob("dbdyno-*")
        assert {name: (group / name).read_text() for name in files} == files
        assert (group / "cgroup.procs").read_text() == "4711"
    assert not group.exists() and (version2 / "cgroup.procs").read_text() == "4711"


def test_in_version_2_a_controller_that_is_not_passed_on_is_asked_for_in_every_group_above(guard, version2, tmp_path):
    with (
        pytest.raises(UserError, match="does not let dbdyno limit the disk"),
        limited([4711], disk_limit("8:0", {"read_iops": 1}), guard),
    ):
        pass
    asked = [(group / "cgroup.subtree_control").read_text() for group in (version2, version2.parent, tmp_path)]
    assert asked == ["+io", "+io", "+io"]
    assert not list(tmp_path.rglob("dbdyno-*"))
