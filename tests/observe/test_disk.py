"""The disk that is sampled is the one the data lies on."""

import os
from pathlib import Path

import pytest

from dbdyno.observe.disk import DiskSampler, device_of


@pytest.fixture
def sys_dev(tmp_path):
    """A /sys in which this directory's file system is on a partition of a made-up disk."""
    number = tmp_path.stat().st_dev
    partition = tmp_path / "devices" / "vdx" / "vdx1"
    partition.mkdir(parents=True)
    (partition / "partition").write_text("1\n")
    (partition.parent / "stat").write_text("10 0 16 2000 20 0 32 3000 0 500 5000 0 0 0 0 7 9000\n")
    dev = tmp_path / "dev"
    dev.mkdir()
    (dev / f"{os.major(number)}:{os.minor(number)}").symlink_to(partition)
    return dev


def test_a_partition_stands_for_its_disk(sys_dev, tmp_path):
    assert device_of(tmp_path, sys_dev).name == "vdx"


def test_counters_have_their_units(sys_dev, tmp_path, monkeypatch):
    monkeypatch.setattr("dbdyno.observe.disk.device_of", lambda directory: device_of(directory, sys_dev))
    not_seen = {}
    seen = DiskSampler([tmp_path, tmp_path], not_seen).sample()
    assert seen == {
        "disk.vdx.reads_total": 10,
        "disk.vdx.read_bytes_total": 16 * 512,
        "disk.vdx.read_s_total": 2,
        "disk.vdx.writes_total": 20,
        "disk.vdx.write_bytes_total": 32 * 512,
        "disk.vdx.write_s_total": 3,
        "disk.vdx.busy_s_total": 0.5,
        "disk.vdx.flushes_total": 7,
        "disk.vdx.flush_s_total": 9,
    }
    assert not_seen == {}


def test_memory_is_no_disk():
    not_seen = {}
    assert DiskSampler([Path("/proc")], not_seen).sample() == {}
    assert "not on a disk" in not_seen["disk"]
