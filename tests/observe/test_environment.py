"""The host is described as it describes itself."""

import json
import os

from dbdyno.observe import environment
from dbdyno.observe.environment import chosen, describe_host, read_first, virtualization


def test_the_host_is_described_in_json():
    host = json.loads(json.dumps(describe_host()))
    assert host["cpus"] == os.cpu_count()
    assert host["cpus_usable"] == sorted(os.sched_getaffinity(0))
    assert host["kernel"] == os.uname().release
    assert host["memory_bytes"] > host["memory_available_bytes"] > 0


def test_the_chosen_word_is_picked():
    assert chosen("always [madvise] never") == "madvise"
    assert chosen("performance") == "performance"
    assert chosen(None) is None


def test_a_file_that_is_not_there_is_none(tmp_path):
    (tmp_path / "file").write_text("word\n")
    assert read_first(str(tmp_path / "file")) == "word"
    assert read_first(str(tmp_path / "nothing")) is None


def test_a_hypervisor_is_seen_by_the_processor_flag(monkeypatch):
    files = {"/proc/cpuinfo": "flags : fpu hypervisor sse", "/sys/class/dmi/id/product_name": "KVM"}
    monkeypatch.setattr(environment, "read_first", files.get)
    assert "virtual machine (KVM)" in virtualization()
    files["/proc/cpuinfo"] = "flags : fpu sse"
    assert "virtual machine (KVM)" not in virtualization()
