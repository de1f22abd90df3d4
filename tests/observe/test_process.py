"""A process's usage is the kernel's figure, of all its threads, those that ended too."""

import mmap
import os
import subprocess
import sys
import threading

import pytest

from dbdyno.observe import process
from dbdyno.observe.disk import device_of
from dbdyno.observe.process import Accumulated, ProcessSampler


def busy(seconds):
    began = os.times().user
    while os.times().user - began < seconds:
        pass


def test_a_process_and_its_threads():
    sampler = ProcessSampler("me", os.getpid(), {})
    before = sampler.sample()
    thread = threading.Thread(target=busy, args=(0.1,))
    thread.start()
    during = sampler.sample()
    thread.join()
    after = sampler.sample()
    assert during["process.me.threads"] == before["process.me.threads"] + 1
    used = [seen["process.me.cpu_user_s_total"] + seen["process.me.cpu_system_s_total"] for seen in (before, after)]
    assert used[1] - used[0] >= 0.09
    assert before["process.me.resident_bytes"] > 1 << 20
    for name in ("run_queue_s_total", "voluntary_switches_total", "involuntary_switches_total", "written_bytes_total"):
        assert 0 <= before[f"process.me.{name}"] <= during[f"process.me.{name}"] <= after[f"process.me.{name}"]


def test_pages_fetched_from_a_disk_are_counted(tmp_path):
    if device_of(tmp_path) is None:
        pytest.skip("temporary files do not lie on a disk, so no page of them is fetched from one")
    path = tmp_path / "mapped"
    path.write_bytes(bytes(1 << 20))
    sampler = ProcessSampler("me", os.getpid(), {})
    before = sampler.sample()["process.me.major_faults_total"]
    with path.open("r+b") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            mapped.madvise(mmap.MADV_RANDOM)
            assert not sum(mapped[::4096])
    assert sampler.sample()["process.me.major_faults_total"] > before


def test_a_process_that_ended_is_left_out():
    ended = subprocess.Popen(["sleep", "600"])
    not_seen = {}
    sampler = ProcessSampler("server", ended.pid, not_seen)
    assert sampler.sample()
    ended.kill()
    ended.wait()
    assert sampler.sample() == {}
    assert ProcessSampler("server", ended.pid, not_seen).sample() == {}
    assert not any(band.startswith("process.server") for band in not_seen)


def test_a_process_that_ends_as_it_is_looked_at_is_none_that_is_refused(monkeypatch):
    ended = subprocess.Popen(["true"])
    ended.wait()

    def gone(_):
        raise ProcessLookupError

    monkeypatch.setattr(process, "read", gone)
    not_seen = {}
    ProcessSampler("server", ended.pid, not_seen)
    assert not any(band.startswith("process.server") for band in not_seen)


def test_children_count_with_their_parent_where_that_is_asked_for():
    children = [subprocess.Popen(["sleep", "600"]) for _ in range(2)]
    alone, together = (ProcessSampler("me", os.getpid(), {}, forks).sample() for forks in (False, True))
    for child in children:
        child.kill()
        child.wait()
    # At least: what an earlier test started (a pool, a resource tracker) may still be there.
    assert together["process.me.threads"] >= alone["process.me.threads"] + 2
    assert together["process.me.resident_bytes"] > alone["process.me.resident_bytes"]
    assert together["process.me.private_bytes"] > alone["process.me.private_bytes"]


HOLDS = """
import mmap, sys
print("ready", flush=True)
file = open(sys.argv[1], "rb")
for _ in sys.stdin:
    shared = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    sum(shared[at] for at in range(0, len(shared), 4096))
    print("mapped", flush=True)
    sys.stdin.readline()
    own = b"x" * (16 << 20)
    print("made", flush=True)
"""
"""A process that maps a file at its first line, and makes as many bytes of its own at its second."""


def test_memory_of_its_own_is_private_and_that_of_a_file_is_not(tmp_path):
    (tmp_path / "file").write_bytes(bytes(16 << 20))
    argv = [sys.executable, "-I", "-c", HOLDS, str(tmp_path / "file")]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holding:
        sampler, private_bytes = ProcessSampler("it", holding.pid, {}), []
        for step in ("ready", "mapped", "made"):
            assert holding.stdout.readline().strip() == step
            private_bytes.append(sampler.sample()["process.it.private_bytes"])
            holding.stdin.write("next\n")
            holding.stdin.flush()
        holding.kill()
    before, mapped, made = private_bytes
    assert mapped - before < 4 << 20 and made - mapped >= 16 << 20


def test_a_child_that_ended_still_counts():
    sampler = ProcessSampler("me", os.getpid(), {}, True)
    before = sampler.sample()
    subprocess.run([sys.executable, "-c", "for _ in range(3_000_000): pass"], check=True)
    after = sampler.sample()
    assert after["process.me.cpu_user_s_total"] - before["process.me.cpu_user_s_total"] > 0.02


def test_of_many_threads_not_all_are_read_every_second(monkeypatch):
    monkeypatch.setattr(process, "TASKS_A_SECOND", 0.4)
    sampler = ProcessSampler("me", os.getpid(), {})
    threads = sampler.sample()["process.me.threads"]
    seen = ["process.me.run_queue_s_total" in sampler.sample() for _ in range(int(threads / 0.4) + 2)]
    assert seen.count(True) == 1


def test_of_many_processes_neither_are_the_bytes(monkeypatch):
    monkeypatch.setattr(process, "TASKS_A_SECOND", 0.1)
    sampler = ProcessSampler("me", os.getpid(), {}, True)
    child = subprocess.Popen(["sleep", "600"])
    seen = ["process.me.read_bytes_total" in sampler.sample() for _ in range(3)]
    child.kill()
    child.wait()
    assert seen == [True, False, False]


@pytest.mark.parametrize("refused", [PermissionError, FileNotFoundError])
def test_what_may_not_be_read_is_told_and_the_rest_is_seen(monkeypatch, refused):
    def guarded(read):
        def guard(*args):
            if args[-1].endswith("/io") or refused is FileNotFoundError:
                raise refused
            return read(*args)

        return guard

    monkeypatch.setattr(process, "read", guarded(process.read))
    monkeypatch.setattr(process.Kept, "read", guarded(process.Kept.read))
    not_seen = {}
    seen = ProcessSampler("other", os.getpid(), not_seen).sample()
    (band,) = (name for name in not_seen if name.startswith("process.other"))
    assert "does not let this user" in not_seen[band]
    assert ("process.other.threads" in seen) == (refused is PermissionError)
    assert "process.other.read_bytes_total" not in seen


def test_delays_that_cannot_have_been_are_not_believed(monkeypatch):
    delays = iter((5, 6, 6 + 100_000, 7))

    def task(sampler, folder):
        delay = next(delays) if folder.endswith(str(os.getpid())) and sampler._delay_seen else 0
        return (0, 0, 0, delay), ("", 0, 0)

    monkeypatch.setattr(ProcessSampler, "_task", task)
    monkeypatch.setattr(process.delay_accounting, "missing", lambda: None)
    not_seen = {}
    sampler = ProcessSampler("me", os.getpid(), not_seen)
    names = ["process.me.io_delay_s_total" in sampler.sample() for _ in range(4)]
    assert names == [True, True, False, False]
    assert "counter of disk delays is wrong" in not_seen["process.me.io_delay_s_total"]


def test_what_ended_keeps_counting_and_a_number_used_again_is_another_thread():
    counted = Accumulated(2)
    assert counted.add({1: (5, 1), 2: (7, 0)}) == (12, 1)
    assert counted.add({1: (6, 1)}) == (13, 1)
    assert counted.add({1: (2, 1), 3: (1, 1)}) == (16, 3)
    assert counted.add({}) == (16, 3)
