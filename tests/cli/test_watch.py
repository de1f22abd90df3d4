"""`dbdyno watch` shows real servers live, changes nothing, and ends as a person ends it."""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from dbdyno.cli import watch
from dbdyno.systems.base import Launch
from helpers import need, system, wait_until

COMMAND = [sys.executable, "-m", "dbdyno", "watch"]
WIDTH = 80


def environment(**more):
    return os.environ | {"PYTHONPATH": str(Path(watch.__file__).parents[2]), "PYTHONUNBUFFERED": "1", **more}


@pytest.fixture
def started(guard, tmp_path, request):
    """A private server of the name that the test gives."""
    need(request.param)
    server = system(request.param)
    server.start(Launch(guard, tmp_path, 4, 1))
    yield server
    server.stop()


def url_of(server, scheme, user):
    return f"{scheme}://{user}@{server.endpoint.host}:{server.endpoint.port}"


def run(*arguments, **more):
    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, timeout=100, env=environment(**more), check=False
    )


@pytest.mark.parametrize("started", ["mariadb"], indirect=True)
def test_a_pipe_has_plain_lines_of_every_band(started):
    done = run(
        url_of(started, "mysql", started.endpoint.user), "--count", "2", DBDYNO_PASSWORD=started.endpoint.password
    )
    assert (done.returncode, done.stderr) == (0, "")
    first, second = done.stdout.strip().split("\n\n")
    assert re.match(r"\d\d:\d\d:\d\d mysql://127\.0\.0\.1:\d+/information_schema, version ", first)
    names = [line.split(" ", 1)[0] for line in second.splitlines()[1:]]
    assert {"host", "network", "process", "store"} <= set(names)
    assert re.search(r"\nstore +.*questions [\d.]+/s", second) and "\x1b" not in done.stdout
    assert started.endpoint.password not in done.stdout


@pytest.mark.parametrize("started", ["redis"], indirect=True)
def test_a_server_is_watched_by_its_number_and_by_its_name(started):
    pid = started.server_pids()["redis"]
    by_number = run(str(pid), "--count", "1")
    assert by_number.returncode == 0 and f"process {pid}\n" in by_number.stdout
    assert re.search(r"\nprocess +redis.*CPU \d", by_number.stdout) and "\nstore" not in by_number.stdout
    by_name = run("redis", "--count", "1")
    assert by_name.returncode in (0, 2)
    # Another Redis may run on this host: then the numbers of both are named.
    assert str(pid) in by_name.stdout + by_name.stderr


@pytest.mark.parametrize("started", ["redis"], indirect=True)
def test_a_terminal_of_80_columns_has_one_screen_and_ctrl_c_ends_it_well(started):
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, WIDTH, 0, 0))
    variables = environment(TERM="xterm", DBDYNO_PASSWORD=started.endpoint.password or "")
    command = [*COMMAND, url_of(started, "redis", "default")]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=variables) as process:
        os.close(theirs)
        os.set_blocking(ours, False)
        written = bytearray()

        def has_seen():
            try:
                written.extend(os.read(ours, 65536))
            except BlockingIOError:
                return False
            return written.count(b"store ") >= 2

        try:
            wait_until(has_seen)
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0
        finally:
            process.kill()
            os.close(ours)
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", written.decode())
    lines = [line for line in re.split(r"[\r\n]+", plain) if line]
    assert max(map(len, lines)) < WIDTH and any(line.startswith("store ") for line in lines)
    assert "Traceback" not in plain


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("999999999", "there is no process 999999999"),
        ("mysql://me@127.0.0.1:1", "no server answers there"),
        ("nosuch://127.0.0.1:1", "there is no URL scheme 'nosuch'"),
        ("mysql://me@127.0.0.1:port/x", "'port' is not a port: give a number"),
        ("sqlite", "is not a system that can be watched by its name"),
        ("tidb", "no tidb runs on this host"),
    ],
)
def test_what_is_not_there_is_one_line_and_status_2(dbdyno, target, words):
    status, out, err = dbdyno("watch", target)
    assert (status, out) == (2, "") and words in err and err.count("\n") == 1


def test_the_end_of_the_process_is_told(dbdyno):
    with subprocess.Popen(["sleep", "600"]) as process:
        with subprocess.Popen(
            [*COMMAND, str(process.pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
        ) as watching:
            try:
                assert "sleep, process" in watching.stdout.readline()
            finally:
                process.kill()
            process.wait()
            _, err = watching.communicate(timeout=60)
        assert watching.returncode == 1 and "has ended" in err
