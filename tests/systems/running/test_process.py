"""A server's process: its directory, its port, its log, and what is said when it does not start."""

import os
import re
import signal
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from dbdyno.errors import RunFailed, UserError
from dbdyno.leftovers.processes import is_stopped, processes_in
from dbdyno.systems.running import cgroup, process
from dbdyno.systems.running.process import (
    PrivateDirectory,
    ServerProcess,
    copy_data,
    describe_exit,
    find_program,
    run_to_end,
    telling_lines,
)
from helpers import need, need_program, system, wait_until

FAILING = ["sh", "-c", "echo starting; echo '[ERROR] unknown variable x'; echo Aborting; exit 7"]
LASTING = ["sleep", "600"]


@pytest.fixture
def directory(launch):
    directory = PrivateDirectory(launch)
    yield directory
    directory.remove()
    assert not directory.path.exists()


@pytest.fixture
def reachable():
    """A directory that servers can get to whoever they run as, which pytest's own is not."""
    with tempfile.TemporaryDirectory(prefix="dbdyno test ") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_a_directory_is_made_where_the_variable_says(launch, reachable, monkeypatch):
    monkeypatch.setenv("DBDYNO_DATA_DIR", str(reachable))
    directory = PrivateDirectory(launch)
    assert directory.path.parent == reachable
    directory.remove()
    monkeypatch.setenv("DBDYNO_DATA_DIR", str(reachable / "missing"))
    with pytest.raises(UserError, match="DBDYNO_DATA_DIR"):
        PrivateDirectory(launch)


def test_a_directory_of_the_experiment_goes_before_the_variable(launch, reachable, monkeypatch):
    monkeypatch.setenv("DBDYNO_DATA_DIR", str(reachable / "missing"))
    (reachable / "own").mkdir(mode=0o755)
    directory = PrivateDirectory(replace(launch, data_dir=reachable / "own"))
    assert directory.path.parent == reachable / "own"
    directory.remove()


@pytest.mark.skipif(os.geteuid() != 0, reason="servers have their own user only where dbdyno is root")
def test_a_directory_that_servers_cannot_reach_is_refused(launch, tmp_path, monkeypatch):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    monkeypatch.setenv("DBDYNO_DATA_DIR", str(closed))
    with pytest.raises(UserError, match=f"{closed} is closed to others"):
        PrivateDirectory(launch)
    assert not list(closed.iterdir())


@pytest.mark.parametrize("name", ["mariadb", "redis", "memcached"])
def test_a_blank_in_its_name_does_no_harm(name, launch, reachable, monkeypatch):
    need(name)
    monkeypatch.setenv("DBDYNO_DATA_DIR", str(reachable))
    server = system(f"{name}?connect=socket")
    try:
        server.start(launch)
        assert len(list(reachable.iterdir())) == 1
    finally:
        server.stop()
    assert not list(reachable.iterdir())


def test_a_file_of_the_directory_is_the_servers_alone(directory):
    path = directory.write("init.sql", "secret")
    assert path.read_text() == "secret"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.stat().st_uid == directory.path.stat().st_uid


def test_a_socket_path_that_is_too_long_is_refused(launch, reachable, monkeypatch):
    deep = reachable / ("x" * 100)
    deep.mkdir()
    monkeypatch.setenv("DBDYNO_DATA_DIR", str(deep))
    directory = PrivateDirectory(launch)
    with pytest.raises(UserError, match="too long for a Unix socket"):
        directory.socket_path()
    directory.remove()


def test_a_server_that_ends_is_quoted(directory, launch):
    server = ServerProcess("broken", FAILING, directory, launch)
    with pytest.raises(UserError) as caught:
        server.wait_ready(lambda: False)
    assert str(caught.value) == "broken did not start: [ERROR] unknown variable x"
    server.stop()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is broken: the file is empty"),
        (b"hello", "is broken: it is not a program"),
        (b"\x7fELF" + bytes(60), "is broken, or a program for another processor"),
    ],
)
def test_a_program_that_is_none_is_told(content, said, directory, launch, tmp_path):
    program = tmp_path / "server"
    program.write_bytes(content)
    program.chmod(0o755)
    with pytest.raises(UserError, match=f"{program} {said}"):
        ServerProcess("broken", [str(program)], directory, launch)
    with pytest.raises(UserError, match=f"{program} {said}"):
        run_to_end(["env", "A=b", str(program)], directory.path, tmp_path / "log")
    program.chmod(0o644)
    with pytest.raises(UserError, match=f"{program} is not there, or is not a program"):
        ServerProcess("broken", [str(program)], directory, launch)


def test_a_server_over_its_limit_is_told_with_the_limit_and_what_it_wanted(directory, launch):
    limited = replace(launch, memory_limit_bytes=32 << 20)
    try:
        cgroup.ControlGroup(cgroup.memory_limit(32 << 20), launch.guard).remove()
    except UserError as error:
        pytest.skip(str(error))
    # It looks for the last lines of something without any, all of which it keeps.
    server = ServerProcess("greedy", ["tail", "/dev/zero"], directory, limited)
    with pytest.raises(UserError, match=r"greedy did not start: it was killed by its memory_limit of 32 MiB: it used"):
        server.wait_ready(lambda: False)
    server.stop()
    assert re.search(r"used \d\d MiB and wanted more( \(it had asked for \d+ MiB of address space\))?", server.death())


def test_a_server_that_is_stopped_can_be_ended(directory, launch):
    trap = ["sh", "-c", "trap 'exit 0' TERM; echo ready; while true; do sleep 0.01; done"]
    server = ServerProcess("fake", trap, directory, launch)
    wait_until(lambda: "ready" in server.log_path.read_text())
    os.kill(server.pid, signal.SIGSTOP)
    wait_until(lambda: is_stopped(server.pid))
    assert server.death() is None
    server.stop_in_order()
    assert server.death() == "fake ended with status 0"


def test_a_server_that_goes_on_in_time_is_left_alone(directory, launch, monkeypatch):
    monkeypatch.setattr(process, "STOPPED_TIMEOUT_S", 0.5)
    server = ServerProcess("fake", LASTING, directory, launch)
    os.kill(server.pid, signal.SIGSTOP)
    wait_until(lambda: is_stopped(server.pid))
    os.kill(server.pid, signal.SIGCONT)
    wait_until(lambda: not is_stopped(server.pid))
    assert server.death() is None
    os.kill(server.pid, signal.SIGSTOP)
    wait_until(lambda: server._process.poll() == -signal.SIGKILL)
    assert server.death() == "fake was stopped by a signal (SIGSTOP) and was given up"
    server.stop()


def test_a_server_that_stays_stopped_is_killed_so_that_nobody_waits_for_it(launch, monkeypatch):
    need("postgresql")
    monkeypatch.setattr(process, "STOPPED_TIMEOUT_S", 0.1)
    server = system("postgresql")
    try:
        server.start(launch)
        os.kill(server.server_pids()["postgresql"], signal.SIGSTOP)
        with pytest.raises(RunFailed, match="does not answer"):
            server.all_settings()
        assert server.death() == "postgresql was stopped by a signal (SIGSTOP) and was given up"
    finally:
        server.stop()


def test_what_a_killed_server_started_ends_with_it(directory, launch):
    server = ServerProcess("fake", ["sh", "-c", "setsid sleep 600 & echo ready; wait"], directory, launch)
    wait_until(lambda: "ready" in server.log_path.read_text() and len(processes_in([directory.path])) == 2)
    os.kill(server.pid, signal.SIGKILL)
    wait_until(server.death)
    server.stop()
    assert processes_in([directory.path]) == {}


def test_a_command_begins_only_below_the_process_that_wanted_it(tmp_path):
    need_program("setpriv", "util-linux")
    command = [*process.ending_with_us(signal.SIGKILL), "touch", str(tmp_path / "began")]
    # Its parent is a shell, as it would be somebody else if dbdyno had been killed meanwhile.
    orphaned = subprocess.run(["/bin/sh", "-c", '"$@"; exit $?', "sh", *command], check=False)
    assert orphaned.returncode == 1
    assert not (tmp_path / "began").exists()
    subprocess.run(command, check=True)
    assert (tmp_path / "began").exists()


def test_a_command_that_does_not_end_is_given_up(directory, tmp_path, monkeypatch):
    monkeypatch.setattr(process, "MAKE_READY_TIMEOUT_S", 0.1)
    with pytest.raises(RunFailed, match="sh did not end within 0 s"):
        run_to_end(["sh", "-c", "sleep 600 & wait"], directory.path, tmp_path / "log")
    assert processes_in([directory.path]) == {}


def test_what_a_killed_command_called_is_ended(directory, tmp_path):
    with pytest.raises(UserError, match="sh failed"):
        run_to_end(["sh", "-c", "sleep 600 & kill -9 $$"], directory.path, tmp_path / "log")
    assert processes_in([directory.path]) == {}


@pytest.mark.parametrize("script", ["kill -STOP $$", "sh -c 'kill -STOP $$' & wait"])
def test_a_command_that_stays_stopped_is_given_up(script, directory, tmp_path, monkeypatch):
    monkeypatch.setattr(process, "STOPPED_TIMEOUT_S", 0.1)
    with pytest.raises(RunFailed, match=r"sh was stopped by a signal \(SIGSTOP\) and was given up"):
        run_to_end(["sh", "-c", script], directory.path, tmp_path / "log")
    assert processes_in([directory.path]) == {}


def test_a_server_that_is_killed_while_it_starts_is_said_to_be(directory, launch):
    server = ServerProcess("killed", ["sh", "-c", "kill -9 $$"], directory, launch)
    with pytest.raises(UserError, match="killed did not start: it was killed by SIGKILL"):
        server.wait_ready(lambda: False)
    server.stop()


def test_a_server_that_never_answers_is_given_up(directory, launch, monkeypatch):
    monkeypatch.setattr(process, "READY_TIMEOUT_S", 0.0)
    server = ServerProcess("mute", LASTING, directory, launch)
    with pytest.raises(RunFailed, match="mute did not answer within 0 s: it said nothing"):
        server.wait_ready(lambda: False)
    server.stop()


def test_a_server_runs_unprivileged_and_pinned(directory, guard, tmp_path):
    cpu = min(os.sched_getaffinity(0))
    launch = process.Launch(guard, tmp_path, 1, 1, server_cpus=(cpu,))
    server = ServerProcess("sleeper", LASTING, directory, launch)
    server.wait_ready(lambda: b"sleep" in (Path(f"/proc/{server.pid}/cmdline").read_bytes().split(b"\0")[0]))
    assert os.sched_getaffinity(server.pid) == {cpu}
    assert os.stat(f"/proc/{server.pid}").st_uid == directory.path.stat().st_uid != 0 or os.geteuid() != 0
    assert server.death() is None
    server.stop()
    assert server.death() == "sleeper was killed by SIGTERM"


def test_a_server_that_does_not_stop_is_killed(directory, launch, monkeypatch):
    monkeypatch.setattr(process, "STOP_TIMEOUT_S", 0.05)
    stubborn = ["sh", "-c", "trap '' TERM; echo up; exec sleep 600"]
    server = ServerProcess("stubborn", stubborn, directory, launch)
    server.wait_ready(lambda: "up" in server.log_path.read_text())
    server.stop()
    assert server.death() == "stubborn was killed by SIGKILL"


def test_what_it_reads_on_stdin_reaches_a_server(directory, launch):
    server = ServerProcess("cat", ["sh", "-c", "cat; exec sleep 600"], directory, launch, "requirepass x\n")
    server.wait_ready(lambda: server.log_path.read_text() == "requirepass x\n")
    server.stop()


def test_a_command_that_fails_is_quoted(tmp_path):
    with pytest.raises(UserError, match=r"sh failed: .*unknown variable x"):
        run_to_end(FAILING, tmp_path, tmp_path / "log")
    run_to_end(["true"], tmp_path, tmp_path / "log")


def test_the_lines_of_a_log_that_tell(tmp_path):
    log = tmp_path / "log"
    log.write_text("one\ntwo\nthree\nfour\n")
    assert telling_lines(log) == "two | three | four"
    log.write_text("one\n[ERROR] bad\nfour\n[ERROR] Aborting\n")
    assert telling_lines(log) == "[ERROR] bad"
    assert telling_lines(log, begin=len("one\n[ERROR] bad\n")) == "four | [ERROR] Aborting"
    log.write_text("INFO  Config - batch_size_fail_threshold=50KiB\nERROR the disk is full\n")
    assert telling_lines(log) == "ERROR the disk is full"
    log.write_text("error: " + 1000 * "x")
    assert len(telling_lines(log)) < 500


def test_only_the_end_of_a_long_log_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(process, "MOST_LOG_BYTES", 50)
    (log := tmp_path / "log").write_text("error: early\n" + "x\n" * 50 + "error: late\n")
    assert process.telling_lines(log) == "error: late"
    assert process.telling_lines(log, log.stat().st_size) == "it said nothing"


def test_how_a_process_ended_is_said():
    assert describe_exit(3) == "ended with status 3"
    assert describe_exit(-9) == "was killed by SIGKILL"
    assert describe_exit(-64) == "was killed by signal 64"


def test_programs_are_found_beyond_the_path(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    assert find_program("sh") and subprocess.run([find_program("true")], check=True)
    assert find_program("no-such-program") is None


def test_data_that_cannot_be_copied_leaves_no_directory(launch, reachable, monkeypatch):
    monkeypatch.setenv("DBDYNO_DATA_DIR", str(reachable))
    with pytest.raises(RunFailed, match="could not be copied: cp: "):
        PrivateDirectory(replace(launch, data=reachable / "gone"))
    assert not list(reachable.iterdir())


def test_stopping_in_order_is_asked_of_the_server(directory, launch):
    lasting = ServerProcess("fake", LASTING, directory, launch)
    with pytest.raises(RunFailed, match="did not stop in good order: it was killed by SIGTERM"):
        lasting.stop_in_order()
    lasting.stop()
    trap = ["sh", "-c", "trap 'exit 0' TERM; echo ready; while true; do sleep 0.01; done"]
    orderly = ServerProcess("fake", trap, directory, launch)
    wait_until(lambda: "ready" in orderly.log_path.read_text())
    orderly.stop_in_order()
    assert orderly.death() == "fake ended with status 0"


def test_a_cold_copy_is_forgotten_by_the_kernel_file_by_file(tmp_path, monkeypatch):
    source, target = tmp_path / "source", tmp_path / "target"
    (source / "below").mkdir(parents=True)
    target.mkdir()
    (source / "below" / "data").write_text("rows")
    forgotten = []
    monkeypatch.setattr(os, "posix_fadvise", lambda *asked: forgotten.append(asked[1:]))
    copy_data(source, target)
    assert forgotten == []
    copy_data(source, target, cold=True)
    assert forgotten == [(0, 0, os.POSIX_FADV_DONTNEED)]
    assert (target / "below" / "data").read_text() == "rows"


def test_a_kill_takes_every_process_of_a_server_and_nothing_waits_for_them(directory, launch):
    begetting = ["sh", "-c", "sleep 600 & setsid sleep 600 & echo ready; wait"]
    server = ServerProcess("begetting", begetting, directory, launch)
    wait_until(lambda: "ready" in server.log_path.read_text() and len(processes_in([directory.path])) == 3)
    server.kill()
    assert server.death() == "begetting was killed by SIGKILL"
    assert processes_in([directory.path]) == {}
    server.stop()
