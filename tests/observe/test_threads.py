"""Threads are distinguished by the system call that they wait in."""

import os
import platform
import socket
import subprocess
import sys

import pytest

from dbdyno.observe import threads
from dbdyno.observe.threads import ThreadStates
from helpers import wait_until

pytestmark = pytest.mark.skipif(platform.machine() not in threads._CALLS, reason="calls of this machine are not known")
SERVER = """
import os, socket, sys, threading, time
end = socket.socket(fileno=int(sys.argv[1]))
threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
end.sendall(b"up")
while end.recv(1):
    pass
"""


@pytest.fixture
def server():
    """A process with a thread that waits for a client, and an idle one."""
    ours, theirs = socket.socketpair()
    process = subprocess.Popen([sys.executable, "-c", SERVER, str(theirs.fileno())], pass_fds=[theirs.fileno()])
    assert ours.recv(2) == b"up"
    yield process
    process.kill()
    process.wait()
    ours.close()
    theirs.close()


def looked(states):
    states.learn()
    states.look()
    return states.take()


def test_one_that_waits_for_a_client_serves_clients_and_an_idle_one_does_not(server):
    not_seen = {}
    states = ThreadStates("server", server.pid, not_seen)
    assert wait_until(lambda: (seen := looked(states)).get("client") and seen) == {"client": 1}
    assert states.take() == {"client": 1} and not_seen == {}


@pytest.mark.parametrize(
    ("call", "state"),
    [("running", "cpu"), ("fdatasync", "commit"), ("pread", "disk"), ("write", "disk"), ("-1", "disk"), ("x", "other")],
)
def test_states_of_a_thread_that_serves(server, monkeypatch, call, state):
    states = ThreadStates("server", server.pid, {})
    wait_until(lambda: looked(states).get("client"))
    numbers = threads._CALLS[platform.machine()]
    number = {
        "fdatasync": numbers["commit"][1],
        "pread": numbers[threads._READ][0],
        "write": numbers["disk"][1],
    }.get(call, call)
    monkeypatch.setattr(states._files, "read", lambda path: f"{number} 0x0 0x0\n".encode())
    states.look()
    counts = states.take()
    # Reading pages is hardly ever done ahead of need, so it counts whoever does it.
    assert counts == {state: 2 if call in ("pread", "-1") else 1}


WORKERS = """
import ctypes, threading
PR_SET_NAME = 15
taken = threading.Lock()
taken.acquire()
def wait(name):
    ctypes.CDLL(None).prctl(PR_SET_NAME, name, 0, 0, 0)
    taken.acquire()
for name in (b"load-0", b"load-1", b"flusher", b"iou-wrk-7"):
    threading.Thread(target=wait, args=(name,), daemon=True).start()
print(flush=True)
input()
"""


def test_of_threads_known_to_work_for_clients_a_wait_for_each_other_is_a_lock():
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", WORKERS], stdin=pipe, stdout=pipe) as process:
        process.stdout.readline()
        named, unnamed = ThreadStates("client", process.pid, {}, b"load-"), ThreadStates("client", process.pid, {})
        assert wait_until(lambda: (seen := looked(named)).get("lock") == 2 and seen) == {"lock": 2}
        assert looked(unnamed) == {}
        process.stdin.close()


def test_a_thread_that_flushes_the_log_is_looked_at_by_its_name(monkeypatch):
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", WORKERS], stdin=pipe, stdout=pipe) as process:
        process.stdout.readline()
        states = ThreadStates("server", process.pid, {}, loggers=[b"flusher"])
        assert states.take_flushing() is None
        # It waits for a lock.
        assert wait_until(lambda: (looked(states), states.take_flushing())[1] == 0)
        flush = threads._CALLS[platform.machine()]["commit"][1]
        monkeypatch.setattr(states._files, "read", lambda path: f"{flush} 0x0".encode())
        states.look()
        assert states.take_flushing() == 1 and states.take_flushing() is None
        nobody = ThreadStates("server", process.pid, {}, loggers=[b"another"])
        looked(nobody)
        assert nobody.take_flushing() is None
        process.stdin.close()


def test_the_kernels_workers_for_io_uring_wait_for_no_page(monkeypatch):
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", WORKERS], stdin=pipe, stdout=pipe) as process:
        process.stdout.readline()
        folder = f"/proc/{process.pid}/task"
        wait_until(lambda: {"flusher", "iou-wrk-7"} <= {name(folder, tid) for tid in os.listdir(folder)})
        states = ThreadStates("server", process.pid, {})
        monkeypatch.setattr(states._files, "read", lambda path: b"-1 0x0 0x0")
        # Its own thread, and the other three of the workers.
        assert looked(states) == {"disk": 4}
        process.stdin.close()


def name(folder, tid):
    with open(f"{folder}/{tid}/comm") as comm:
        return comm.read().strip()


def test_of_many_threads_some_stand_for_all(server, monkeypatch):
    states = ThreadStates("server", server.pid, {})
    wait_until(lambda: looked(states).get("client"))
    monkeypatch.setattr(threads, "LOOKS", 1)
    reading = threads._CALLS[platform.machine()][threads._READ][0]
    monkeypatch.setattr(states._files, "read", lambda path: f"{reading} ".encode())
    states.look()
    assert states.take() == {"disk": 2}


def test_one_that_may_not_be_looked_at_is_told(monkeypatch):
    def refused(path):
        raise PermissionError

    monkeypatch.setattr(threads, "read", refused)
    not_seen = {}
    states = ThreadStates("server", os.getpid(), not_seen)
    assert looked(states) == {}
    assert "may not see" in not_seen["waits.server.disk"]


def test_a_machine_whose_calls_are_not_known_is_told(monkeypatch):
    monkeypatch.setattr(threads.platform, "machine", lambda: "abacus")
    not_seen = {}
    assert looked(ThreadStates("server", os.getpid(), not_seen)) == {}
    assert "abacus" in not_seen["waits.server.disk"]
