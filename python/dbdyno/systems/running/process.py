"""A server process that dbdyno starts: private directory, log, time-outs, and its certain end."""

import os
import pwd
import re
import shutil
import signal
import stat
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import IO

from dbdyno.errors import RunFailed, UserError
from dbdyno.leftovers.processes import is_stopped, processes_in, start_time
from dbdyno.leftovers.shared_memory import remove_shared_memory
from dbdyno.systems.base import Launch
from dbdyno.systems.running.cgroup import ControlGroup, memory_kill, memory_limit

READY_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 10.0
STOPPED_TIMEOUT_S = 10.0
"""Time that a server may stand stopped by a signal: longer than any stall that is worth measuring."""
ORDERLY_STOP_TIMEOUT_S = 600.0
"""A large buffer pool is written before a server ends in good order."""
MAKE_READY_TIMEOUT_S = 600.0
"""For a command that makes a data directory."""
MOST_LOG_BYTES = 1 << 20
"""The end of a log that is read to quote it."""
POLL_S = 0.02
TOOL_POLL_S = 0.25
"""How often it is looked at whether a tool is stopped by a signal."""
SEEN_TO_DISK_BYTES = 1 << 20
"""Smaller files of a copy are left to the kernel: there are hundreds of them, and hardly anything is in them."""
UNPRIVILEGED_USER = "nobody"
"""The user that servers run as when dbdyno is root: mariadbd and memcached refuse to run as root."""

_TELLING = re.compile(
    r"error|fatal|>>>|bad directive|unknown|invalid|illegal|cannot|can't|failed|denied", re.IGNORECASE
)
_INFORMS = re.compile(r"(INFO|DEBUG|TRACE)\b")
"""How a line begins that complains of nothing. Cassandra logs its whole configuration, with `fail` in many names."""
_LONGEST_LINE = 400
_SOCKET_PATH_MAX_BYTES = 107
_ELF, _ELF_MACHINE = b"\x7fELF", slice(18, 20)
"""The first bytes of a program, and the offset of its processor type (elf(5))."""
_UNLESS_ORPHANED = '[ "$PPID" = "$0" ] && exec "$@"'
"""A shell's script that becomes a command, unless its parent is another process than the one named first."""


def is_too_long_for_a_socket(path: str | Path) -> bool:
    """Return whether a path is longer than a Unix socket's may be (unix(7))."""
    return len(os.fsencode(path)) > _SOCKET_PATH_MAX_BYTES


class PrivateDirectory:
    """A directory for one system's data, made under DBDYNO_DATA_DIR or the system's temporary directory."""

    def __init__(self, launch: Launch) -> None:
        """Make it, owned by whom servers run as, and registered with the guard."""
        self._guard = launch.guard
        parent = launch.parent or launch.data_dir or os.environ.get("DBDYNO_DATA_DIR") or None
        try:
            self.path = self._guard.new_directory(parent)
        except OSError as error:
            raise UserError(f"no directory for data can be made: {error}; set DBDYNO_DATA_DIR to another") from None
        if launch.data:
            try:
                copy_data(launch.data, self.path, launch.cold)
            except RunFailed:
                self.remove()
                raise
        if (user := server_user()) is not None:
            os.chown(self.path, user.pw_uid, user.pw_gid)
            self._refuse_unreachable()

    def _refuse_unreachable(self) -> None:
        """Raise UserError if whom servers run as cannot get to the directory; their own words for it say little."""
        for above in self.path.parents:
            if not above.stat().st_mode & stat.S_IXOTH:
                self.remove()
                raise UserError(
                    f"dbdyno runs as root, so servers run as '{UNPRIVILEGED_USER}', and {above} is closed to others: "
                    "set DBDYNO_DATA_DIR to a directory that is not"
                )

    def write(self, name: str, text: str) -> Path:
        """Write a file that only the server can read, and return its path."""
        path = self.path / name
        path.touch(mode=0o600)
        path.write_text(text)
        if (user := server_user()) is not None:
            os.chown(path, user.pw_uid, user.pw_gid)
        return path

    def folder(self, name: str) -> Path:
        """Make an empty folder that the server can write to, replacing one of that name, and return its path."""
        path = self.path / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(mode=0o700)
        if (user := server_user()) is not None:
            os.chown(path, user.pw_uid, user.pw_gid)
        return path

    def socket_path(self, name: str = "s.sock") -> Path:
        """Return the path for a server's Unix socket; raises UserError if it is longer than the system takes."""
        path = self.path / name
        if is_too_long_for_a_socket(path):
            raise UserError(f"{path} is too long for a Unix socket; set DBDYNO_DATA_DIR to a shorter directory")
        return path

    def remove(self) -> None:
        """Remove it with all that is in it, and the shared memory of a PostgreSQL that was killed in it."""
        remove_shared_memory(self.path / "data")
        shutil.rmtree(self.path, ignore_errors=True)
        self._guard.tell("removed", self.path)


class ServerProcess:
    """One running server. stop_signal: on which it ends soon, without waiting for its clients. orderly_signal: on which
    it first writes everything."""

    stop_signal = signal.SIGTERM
    orderly_signal = signal.SIGTERM

    def __init__(
        self, name: str, argv: list[str], directory: PrivateDirectory, launch: Launch, stdin: str = ""
    ) -> None:
        """Start `argv` in `directory`, pinned and limited as `launch` says, its output going to the server's log."""
        self.name = name
        self._given = [*_options(argv), *stdin.splitlines()]
        self.log_path = launch.log_folder / f"server-{name}.log"
        self._guard, self._folder = launch.guard, directory.path
        self._limit_bytes, self._limit = launch.memory_limit_bytes, _memory_group(launch)
        self._over_limit: str | None = None
        pinned = ["taskset", "-c", ",".join(map(str, launch.server_cpus))] if launch.server_cpus else []
        refuse_broken(argv)
        with self.log_path.open("ab") as log:
            self.log_begins = log.tell()
            self._process = spawn([*ending_with_us(self.stop_signal), *pinned, *argv], directory.path, log)
        self.pid = self._process.pid
        self._guard.tell("pid", self.pid)
        self._stood_still = False
        Thread(target=self._end_if_stopped, name=f"stops-{name}", daemon=True).start()
        if self._limit:
            self._limit.add(self.pid)
        feed(self._process, stdin)

    def started_with(self, private: Mapping[str, str]) -> list[str]:
        """Return the options of its command line and the lines it was given on stdin, each a setting.

        private: secrets, and what is another one at each start, to what stands for it there.
        """
        settings = []
        for setting in self._given:
            for text, instead in private.items():
                setting = re.sub(rf"(?<!\w){re.escape(text)}(?!\w)", instead, setting)  # noqa: PLW2901
            settings.append(setting)
        return settings

    def wait_ready(self, answers: Callable[[], bool], timeout_s: float | None = None) -> None:
        """Wait until `answers()`; raises UserError if the server ended instead, RunFailed if it never did."""
        timeout_s = READY_TIMEOUT_S if timeout_s is None else timeout_s
        began = time.monotonic()
        while not answers():
            if (status := self._process.poll()) is not None:
                raise UserError(f"{self.name} did not start: {self._why_it_ended(status)}")
            waited_s = time.monotonic() - began
            if waited_s > timeout_s:
                said = telling_lines(self.log_path, self.log_begins)
                raise RunFailed(f"{self.name} did not answer within {timeout_s:.0f} s: {said}")
            time.sleep(min(POLL_S, waited_s / 10))

    def _why_it_ended(self, status: int) -> str:
        if killed := self._killed_for_memory():
            return killed
        return f"it {describe_exit(status)}" if status < 0 else telling_lines(self.log_path, self.log_begins)

    def _killed_for_memory(self) -> str | None:
        """Return that the kernel killed the server, or a process of it, because of its limit; None if it did not."""
        if self._limit:
            self._over_limit = self._over_limit or memory_kill(self._limit.path)
        if self._over_limit is None:
            return None
        return f"it was killed by its memory_limit of {(self._limit_bytes or 0) >> 20} MiB: {self._over_limit}"

    def death(self) -> str | None:
        """Return how the server ended; None while it runs. A stop by a signal is a stall, which a trial measures."""
        status = self._process.poll()
        if killed := self._killed_for_memory():
            return f"{self.name}: {killed}"
        if self._stood_still:
            return f"{self.name} was stopped by a signal (SIGSTOP) and was given up"
        if status is None:
            return None
        return f"{self.name} {describe_exit(status)}"

    def _end_if_stopped(self) -> None:
        """Kill the server if it is stopped and does not go on: whoever asks it something would wait for ever."""
        # Its status is left for whoever waits for the server.
        how = os.WEXITED | os.WSTOPPED | os.WNOWAIT
        with suppress(ChildProcessError, ProcessLookupError):
            while (state := os.waitid(os.P_PID, self.pid, how)) and state.si_code == os.CLD_STOPPED:
                deadline = time.monotonic() + STOPPED_TIMEOUT_S
                while is_stopped(self.pid) and time.monotonic() < deadline:
                    time.sleep(POLL_S)
                if is_stopped(self.pid):
                    self._stood_still = True
                    os.kill(self.pid, signal.SIGKILL)
                    return

    def stop_in_order(self) -> None:
        """Terminate the server and wait until it has written everything; raises RunFailed if it does not end well."""
        self._signal(self.orderly_signal)
        try:
            self._process.wait(ORDERLY_STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            raise RunFailed(f"{self.name} did not stop within {ORDERLY_STOP_TIMEOUT_S:.0f} s") from None
        if self._process.returncode != 0:
            raise RunFailed(f"{self.name} did not stop in good order: it {describe_exit(self._process.returncode)}")
        self.stop()

    def kill(self) -> None:
        """Kill the server without warning, with all its processes, and wait until they are gone."""
        # Stopped first, so that it starts no more of them while they are looked for.
        self._process.send_signal(signal.SIGSTOP)
        every = processes_in([self._folder])
        self._process.kill()
        self._process.wait()
        _kill(every)
        self._forget()

    def stop(self) -> None:
        """Terminate the server, kill it if it takes too long, and wait for its end."""
        self._signal(self.stop_signal)
        try:
            self._process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        # Some processes of a killed server may still run.
        _kill(processes_in([self._folder]))
        self._forget()

    def _signal(self, number: int) -> None:
        """Send a signal; a server that was stopped would take it only when it goes on."""
        self._process.send_signal(number)
        self._process.send_signal(signal.SIGCONT)

    def _forget(self) -> None:
        """Leave nothing of a server that has ended."""
        self._killed_for_memory()
        self._guard.tell("done", self.pid)
        if self._limit:
            self._limit.remove()
            self._limit = None


def _kill(processes: Mapping[int, str]) -> None:
    """Kill processes (pid to start time), and wait until they are gone."""
    while left := [pid for pid, began in processes.items() if start_time(pid) == began]:
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(POLL_S)


def _options(argv: list[str]) -> list[str]:
    """Return a command line's options, each with its value; what is before the first one is the program."""
    options: list[str] = []
    for word in argv:
        if word.startswith("-") and word != "-":
            options.append(word)
        elif options and "=" not in options[-1] and " " not in options[-1]:
            options[-1] += f" {word}"
    return options


def copy_data(source: Path, target: Path, cold: bool = False) -> None:
    """Copy a data directory, sharing its blocks if the file system can, and flush the copy to the disk.

    Else the kernel would write it there while a trial runs. Raises RunFailed if that cannot be done.
    cold: then have the kernel forget it, which it does for whoever owns the files. Dropping all caches of the host
    would take root, and everybody else there would pay for it.
    """
    copied = subprocess.run(
        ["cp", "--archive", "--reflink=auto", f"{source}/.", str(target)], capture_output=True, text=True, check=False
    )
    if copied.returncode != 0:
        raise RunFailed(f"the loaded data could not be copied: {copied.stderr.strip()}")
    for path in target.rglob("*"):
        if path.is_file() and (cold or path.stat().st_size >= SEEN_TO_DISK_BYTES):
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
                if cold:
                    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(descriptor)


def _memory_group(launch: Launch) -> ControlGroup | None:
    """Return the control group of a server whose memory is limited; raises UserError if there can be none."""
    if launch.memory_limit_bytes is None:
        return None
    try:
        return ControlGroup(memory_limit(launch.memory_limit_bytes), launch.guard)
    except UserError as error:
        raise UserError(f"memory_limit: {error}; leave it out") from None


def server_user() -> pwd.struct_passwd | None:
    """Return whom servers run as, or None if that is who runs dbdyno."""
    return pwd.getpwnam(UNPRIVILEGED_USER) if os.geteuid() == 0 else None


def run_to_end(argv: list[str], directory: Path, log_path: Path, stdin: str = "") -> None:
    """Run a command that makes ready a server's directory; raises UserError, quoting its log, if it fails."""
    refuse_broken(argv)
    with log_path.open("ab") as log, spawn([*ending_with_us(signal.SIGKILL), *argv], directory, log) as process:
        try:
            feed(process, stdin)
            _wait_for_tool(Path(argv[0]).name, process, directory)
        except BaseException:
            process.kill()
            _kill(processes_in([directory]))
            raise
    if process.returncode != 0:
        # One that was killed leaves the programs that it called, such as initdb its `postgres --single`.
        _kill(processes_in([directory]))
        raise UserError(f"{Path(argv[0]).name} failed: {telling_lines(log_path)}")


def _wait_for_tool(name: str, process: subprocess.Popen[bytes], directory: Path) -> None:
    """Wait for a command that works in a directory; raises RunFailed if it takes too long or stays stopped."""
    deadline, stopped_since = time.monotonic() + MAKE_READY_TIMEOUT_S, None
    while time.monotonic() < deadline:
        with suppress(subprocess.TimeoutExpired):
            process.wait(TOOL_POLL_S)
            return
        is_still = any(is_stopped(pid) for pid in (process.pid, *processes_in([directory])))
        stopped_since = (stopped_since or time.monotonic()) if is_still else None
        if stopped_since and time.monotonic() - stopped_since > STOPPED_TIMEOUT_S:
            raise RunFailed(f"{name} was stopped by a signal (SIGSTOP) and was given up")
    raise RunFailed(f"{name} did not end within {MAKE_READY_TIMEOUT_S:.0f} s")


def spawn(
    argv: list[str],
    directory: Path,
    log: IO[bytes],
    stdin: IO[bytes] | int = subprocess.PIPE,
    stdout: IO[bytes] | None = None,
    as_server: bool = True,
) -> subprocess.Popen[bytes]:
    """Start a process in its own process group, where a terminal's Ctrl-C does not reach it.

    log: takes its messages, and its output where that has no `stdout`. as_server: as the user that servers run as.
    """
    user = server_user() if as_server else None
    return subprocess.Popen(
        argv,
        cwd=directory,
        stdin=stdin,
        stdout=stdout or log,
        stderr=log,
        env={**os.environ, "HOME": str(directory), "TMPDIR": str(directory)},
        process_group=0,
        user=user.pw_uid if user else None,
        group=user.pw_gid if user else None,
        extra_groups=[] if user else None,
    )


def ending_with_us(number: int) -> list[str]:
    """Return the beginning of a command that gets a signal when dbdyno is gone; empty if this host cannot do that.

    It is the last resort if the guards are killed with dbdyno. The kernel sends it when the thread ends that started
    the command, so that must be one which outlives it. If dbdyno is killed before the kernel knows, the shell sees
    another parent and ends: a Redis without its configuration would listen on every address.
    """
    program = find_program("setpriv")
    if not program:
        return []
    name = signal.Signals(number).name.removeprefix("SIG")
    return [program, "--pdeathsig", name, "--", "/bin/sh", "-c", _UNLESS_ORPHANED, str(os.getpid())]


def refuse_broken(argv: list[str]) -> None:
    """Raise UserError if a command's program is none that this host can run; a shell would take it for a script."""
    program = next(word for word in argv if not (word == "env" or "=" in word))
    if (path := find_program(program)) is None:
        raise UserError(f"{program} is not there, or is not a program; install it again")
    with Path(path).open("rb") as file:
        begin = file.read(_ELF_MACHINE.stop)
    with Path("/proc/self/exe").open("rb") as file:
        ours = file.read(_ELF_MACHINE.stop)
    if not begin:
        raise UserError(f"{path} is broken: the file is empty; install it again")
    if begin.startswith(_ELF):
        if begin[_ELF_MACHINE] != ours[_ELF_MACHINE]:
            raise UserError(f"{path} is broken, or a program for another processor; install it again")
    elif not begin.startswith(b"#!"):
        raise UserError(f"{path} is broken: it is not a program; install it again")


def feed(process: subprocess.Popen[bytes], text: str) -> None:
    """Give a process all of its standard input; one that ended before it read says why by its status and its log."""
    assert process.stdin is not None, "it is a pipe"
    with suppress(BrokenPipeError), process.stdin as pipe:
        pipe.write(text.encode())


def describe_exit(status: int) -> str:
    """Say how a process ended, of its status as subprocess has it (a signal is negative)."""
    if status >= 0:
        return f"ended with status {status}"
    names = {9: "SIGKILL", 11: "SIGSEGV", 6: "SIGABRT", 15: "SIGTERM", 2: "SIGINT"}
    return f"was killed by {names.get(-status, f'signal {-status}')}"


def last_lines(log_path: Path, begin: int = 0) -> list[str]:
    """Return the lines at the end of a log, from byte `begin` on; nobody bounds what a program writes."""
    with log_path.open("rb") as log:
        log.seek(max(begin, log.seek(0, os.SEEK_END) - MOST_LOG_BYTES))
        return log.read(MOST_LOG_BYTES).decode(errors="replace").strip().splitlines()


def telling_lines(log_path: Path, begin: int = 0) -> str:
    """Return the at most three lines of a log, from byte `begin` on, that say most about why a server ended."""
    lines = [line.strip() for line in last_lines(log_path, begin) if line.strip()]
    complaints = [line for line in lines if _TELLING.search(line) and not _INFORMS.match(line)]
    telling = [line for line in complaints if not line.endswith("Aborting")]
    said = [line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]} …" for line in telling[:3] or lines[-3:]]
    return " | ".join(said) or "it said nothing"


def find_program(name: str) -> str | None:
    """Return the path of a server program; Debian keeps some where an ordinary user's PATH does not look."""
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin:/usr/local/bin:/usr/bin")
