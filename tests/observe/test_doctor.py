"""Each thing that would spoil a measurement is found where it is, and not where it is not."""

import subprocess
import sys
from types import SimpleNamespace

import psutil
import pytest

from dbdyno.observe import doctor
from dbdyno.observe.doctor import examine
from helpers import wait_until


def find(findings, text):
    (finding,) = [finding for finding in findings if text in finding.what]
    return finding


def test_every_finding_that_is_not_fine_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(doctor, "WATCH_S", 0.05)
    findings = examine(tmp_path)
    assert len(findings) == 15
    assert all(finding.fine or finding.advice for finding in findings)
    assert all(finding.name for finding in findings) and {finding.spoils for finding in findings} == {True, False}
    assert len(examine(None, profile=False)) == 12


def test_a_busy_process_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(doctor, "WATCH_S", 0.3)
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        # Those of the host may be busier, and only the busiest are named.
        monkeypatch.setattr(doctor.psutil, "process_iter", lambda: [psutil.Process(busy.pid)])
        try:
            finding = wait_until(lambda: (seen := find(examine(tmp_path), "processes busy")).fine is False and seen)
            assert f"({busy.pid})" in finding.what
        finally:
            busy.kill()


@pytest.mark.parametrize(
    ("check", "path", "bad", "good"),
    [
        ("_governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave", "performance"),
        ("_turbo", "/sys/devices/system/cpu/intel_pstate/no_turbo", "0", "1"),
        ("_turbo", "/sys/devices/system/cpu/cpufreq/boost", "1", "0"),
        ("_autogroup", "/proc/sys/kernel/sched_autogroup_enabled", "1", "0"),
        ("_hugepages", "/sys/kernel/mm/transparent_hugepage/enabled", "[always] never", "always [never]"),
    ],
)
def test_a_setting_of_the_kernel(monkeypatch, check, path, bad, good):
    for text, fine in ((bad, False), (good, True), (None, True)):
        monkeypatch.setattr(doctor, "read_first", {path: text}.get)
        assert getattr(doctor, check)().fine is fine


def test_a_file_system_in_memory_is_warned_of(monkeypatch, tmp_path):
    for kind, fine in (("tmpfs", False), ("ext4", True)):
        root = SimpleNamespace(mountpoint="/", fstype="xfs")
        own = SimpleNamespace(mountpoint=str(tmp_path), fstype=kind)
        monkeypatch.setattr(doctor.psutil, "disk_partitions", lambda all, mounts=(own, root): mounts)
        assert doctor._filesystem(tmp_path).fine is fine


@pytest.mark.parametrize(
    ("check", "attribute", "value"),
    [
        ("_swap", "swap_memory", SimpleNamespace(used=1 << 20)),
        ("_memory", "virtual_memory", SimpleNamespace(available=1 << 20)),
    ],
)
def test_memory_that_is_short_is_warned_of(monkeypatch, check, attribute, value):
    monkeypatch.setattr(doctor.psutil, attribute, lambda: value)
    assert not getattr(doctor, check)().fine


def test_limits_are_held_against_what_is_needed(monkeypatch, tmp_path):
    monkeypatch.setattr(doctor.resource, "getrlimit", lambda which: (1024, 4096))
    assert not doctor._open_files().fine
    monkeypatch.setattr(doctor.psutil, "disk_usage", lambda path: SimpleNamespace(free=1 << 30))
    assert not doctor._disk(tmp_path).fine
    monkeypatch.setattr(doctor.os, "sched_getaffinity", lambda pid: {0})
    assert not doctor._cpus().fine
    monkeypatch.setattr(doctor, "virtualization", lambda: [])
    assert doctor._virtual().fine and doctor._virtual().what == "between dbdyno and the hardware: nothing"
