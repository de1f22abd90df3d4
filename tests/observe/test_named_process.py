"""A process that a person names is the server at the address, or why it is not."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dbdyno.observe.named_process import why_not_server


@pytest.fixture
def port():
    """A port of this host at which this process listens."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


@pytest.fixture
def path(tmp_path):
    """The path of a Unix socket at which this process listens."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        listening.listen()
        yield str(tmp_path / "socket")


@contextmanager
def killed(process: subprocess.Popen) -> Iterator[None]:
    """Kill a process at the end, also of a test that fails."""
    try:
        yield
    finally:
        process.kill()


def test_a_process_that_listens_there_is_the_server(port, path):
    assert why_not_server(os.getpid(), ("127.0.0.1", port), None) is None
    assert why_not_server(os.getpid(), None, path) is None


def test_another_process_is_refused_with_the_right_one(port, path):
    with subprocess.Popen(["sleep", "600"]) as other, killed(other):
        while Path(f"/proc/{other.pid}/comm").read_text() != "sleep\n":
            assert other.poll() is None
        for address, at, said in ((("127.0.0.1", port), None, f"127.0.0.1:{port}"), (None, path, path)):
            reason = why_not_server(other.pid, address, at)
            assert reason == f"sleep is its program, and it does not listen at {said}; process {os.getpid()} does"


def test_nobody_and_another_host_are_refused(port):
    assert why_not_server(2**22 + 1, ("127.0.0.1", port), None) == "there is no such process on this host"
    assert why_not_server(os.getpid(), ("192.0.2.1", port), None) == "192.0.2.1 is not this host: leave pid out"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look at every process")
def test_a_process_of_another_user_is_refused(port):
    assert "another user's process" in str(why_not_server(1, ("127.0.0.1", port), None))


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="needs its own network namespace")
def test_a_process_of_another_network_has_ports_of_its_own():
    script = "import socket, sys; s = socket.create_server(('', 7)); print('up', flush=True); sys.stdin.read()"
    listening = ["unshare", "--net", shutil.which("python3"), "-c", script]
    with subprocess.Popen(listening, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        if server.stdout.readline() != "up\n":
            pytest.skip("this host makes no network namespaces")
        assert why_not_server(server.pid, ("192.0.2.1", 3306), None) is None
        server.stdin.close()
    with subprocess.Popen(["unshare", "--net", "sleep", "600"]) as idle:
        while os.readlink(f"/proc/{idle.pid}/ns/net") == os.readlink("/proc/self/ns/net"):
            assert idle.poll() is None
        assert why_not_server(idle.pid, ("192.0.2.1", 3306), None).endswith("it listens nowhere")
        idle.kill()
