"""The room for data that a host has."""

import shutil
from collections import namedtuple

import psutil
import pytest

from dbdyno.observe import room
from dbdyno.observe.room import FreeRoom, free_memory_bytes, free_room

DISK = namedtuple("Disk", "free")
MEMORY = namedtuple("Memory", "available")


@pytest.fixture(autouse=True)
def modest_host(monkeypatch):
    """Have a hundred gigabytes of disk, and ten of memory."""
    monkeypatch.setattr(shutil, "disk_usage", lambda path: DISK(100 * 10**9))
    monkeypatch.setattr(psutil, "virtual_memory", lambda: MEMORY(10 * 10**9))
    monkeypatch.setattr(room, "groups_of", lambda process: {})


def test_room_is_where_data_goes_and_what_a_limit_leaves(tmp_path, monkeypatch):
    monkeypatch.setenv("DBDYNO_DATA_DIR", str(tmp_path))
    assert free_room(None) == FreeRoom(str(tmp_path), 100 * 10**9, 10 * 10**9)
    assert free_room(1 << 20).memory_bytes == 1 << 20


def test_memory_is_what_limits_and_control_groups_leave(tmp_path, monkeypatch):
    assert free_memory_bytes(None) == 10 * 10**9
    assert free_memory_bytes(512 << 20) == 512 << 20
    groups = [tmp_path / name for name in ("none", "second", "first")]
    for group in groups:
        group.mkdir()
    (groups[0] / "memory.max").write_text("max\n")
    (groups[0] / "memory.current").write_text("5\n")
    for group, (limit, used) in zip(groups[1:], room._LIMITS, strict=True):
        (group / limit).write_text(f"{9 * 10**9}\n")
        (group / used).write_text(f"{10**9}\n")
        monkeypatch.setattr(room, "groups_of", lambda process, group=group: {"memory": [groups[0], group]})
        assert free_memory_bytes(None) == 8 * 10**9
