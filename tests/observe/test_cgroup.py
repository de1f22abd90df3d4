"""Both versions of control groups are read, with the groups above."""

import os

import pytest

from dbdyno.observe import cgroup
from dbdyno.observe.cgroup import CgroupSampler, groups_of


@pytest.fixture
def of_process(monkeypatch):
    """Say in which groups a process is."""

    def tell(lines):
        def read_groups(path, read=cgroup.read):
            return lines.encode() if path.endswith("/cgroup") else read(path)

        monkeypatch.setattr(cgroup, "read", read_groups)

    return tell


def group(path, **files):
    path.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (path / name.replace("_", ".", 1)).write_text(text)


def test_version_two_counts_those_above_too(tmp_path, of_process):
    of_process("0::/slice/unit\n")
    group(tmp_path, cgroup_controllers="cpu memory\n", cpu_stat="usage_usec 5\n")
    group(tmp_path / "slice", cpu_stat="usage_usec 9\nnr_throttled 2\nthrottled_usec 500000\n")
    group(tmp_path / "slice/unit", cpu_stat="nr_throttled 1\nthrottled_usec 250000\n", memory_current="4096\n")
    assert CgroupSampler("server", 1, tmp_path).sample() == {
        "cgroup.server.throttled_s_total": 0.75,
        "cgroup.server.throttled_periods_total": 3,
        "cgroup.server.memory_bytes": 4096,
    }


def test_version_one_has_a_folder_for_each_controller(tmp_path, of_process):
    of_process("4:memory:/a\n2:cpu,cpuacct:/a\n0::/\n")
    group(tmp_path / "cpu,cpuacct" / "a", cpu_stat="nr_periods 9\nnr_throttled 4\nthrottled_time 2000000000\n")
    group(tmp_path / "memory" / "a", memory_usage_in_bytes="8192\n")
    (tmp_path / "memory" / "a" / "memory.usage_in_bytes").write_text("8192\n")
    assert CgroupSampler("server", 1, tmp_path).sample() == {
        "cgroup.server.throttled_s_total": 2.0,
        "cgroup.server.throttled_periods_total": 4,
        "cgroup.server.memory_bytes": 8192,
    }


def test_a_group_that_was_removed_is_not_seen(tmp_path, of_process):
    of_process("0::/unit\n")
    group(tmp_path, cgroup_controllers="cpu\n")
    group(tmp_path / "unit", cpu_stat="nr_throttled 1\nthrottled_usec 250000\n")
    sampler = CgroupSampler("server", 1, tmp_path)
    (tmp_path / "unit" / "cpu.stat").unlink()
    assert sampler.sample() == {}


def test_the_groups_of_this_process_are_folders_of_this_host():
    for groups in groups_of(os.getpid()).values():
        assert groups[0].is_dir() or not cgroup.ROOT.exists()
    assert groups_of(1 << 22) == {}


def test_refaults_and_the_limit_tell_of_too_little_memory(tmp_path, of_process):
    of_process("0::/unit\n")
    stat = "anon 4096\nworkingset_refault_anon 3\nworkingset_refault_file 40\n"
    group(tmp_path, cgroup_controllers="memory\n")
    group(tmp_path / "unit", memory_current="8192\n", memory_max="8192\n", memory_stat=stat)
    assert CgroupSampler("server", 1, tmp_path).sample() == {
        "cgroup.server.memory_bytes": 8192,
        "cgroup.server.memory_limit_bytes": 8192,
        "cgroup.server.refaulted_pages_total": 43,
    }
    group(tmp_path / "unit", memory_max="max\n")
    assert "cgroup.server.memory_limit_bytes" not in CgroupSampler("server", 1, tmp_path).sample()
