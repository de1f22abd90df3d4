"""Processes: told from later ones with the same number, found by their working directory, and ended."""

import os
import signal
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

TERMINATE_TIMEOUT_S = 5.0
"""Time a process is given between SIGTERM and SIGKILL."""
_POLL_S = 0.02
_ROUNDS = 3
"""A server that is being ended may start another process."""
_TERMINALS = ("/dev/pts/", "/dev/tty", "/dev/console")


def start_time(pid: int) -> str | None:
    """Return when the process began (clock ticks since boot), which tells it from a later one with its number.

    None if there is no such process, or only its status is left.
    """
    fields = _stat(pid)
    return None if fields is None or fields[0] == "Z" else fields[19]


def is_stopped(pid: int) -> bool:
    """Return whether a signal has stopped the process (SIGSTOP): it lives, and does nothing."""
    fields = _stat(pid)
    return fields is not None and fields[0] == "T"


def _stat(pid: int) -> list[str] | None:
    """Return the fields of `/proc/PID/stat` from the state on (proc(5)), or None if there is no such process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # The name in parentheses may contain blanks and parentheses.
    return stat.rpartition(")")[2].split()


def processes_in(directories: Iterable[Path]) -> dict[int, str]:
    """Return the processes whose working directory is in one of `directories`, pid to start time.

    Processes among them without an entry are a server's own children, or were started just when dbdyno died. A shell
    or an editor of a person who looks into a directory is none of them: it reads from a terminal, and no server does.
    """
    directories, processes = list(directories), {}
    for entry in _processes():
        if int(entry.name) != os.getpid() and (began := start_time(int(entry.name))):
            with suppress(OSError):
                cwd = Path(os.readlink(entry / "cwd"))
                if any(cwd.is_relative_to(directory) for directory in directories) and not _reads_a_terminal(entry):
                    processes[int(entry.name)] = began
    return processes


def processes_led_by(leaders: Mapping[int, str]) -> dict[int, str]:
    """Return the processes in the groups of these (pid to start time), pid to start time; a leader may have ended.

    Its number is nobody else's as long as its group is there. Much later it could be another group's, whose leader has
    ended too.
    """
    processes = {}
    for entry in _processes():
        fields = _stat(int(entry.name))
        if fields is None or fields[0] == "Z" or (leader := int(fields[2])) not in leaders:
            continue
        began, led_since = fields[19], leaders[leader]
        if start_time(leader) in (None, led_since) and int(began) >= int(led_since):
            processes[int(entry.name)] = began
    return processes


def _processes() -> Iterator[Path]:
    return (entry for entry in Path("/proc").iterdir() if entry.name.isdecimal())


def _reads_a_terminal(entry: Path) -> bool:
    # There is none if it has closed its standard input.
    with suppress(OSError):
        return os.readlink(entry / "fd/0").startswith(_TERMINALS)
    return False


def end_processes(processes: dict[int, str], directories: Iterable[Path], with_groups: bool = False) -> None:
    """End `processes` (pid to start time) and all that work in `directories`.

    with_groups: also what `processes` lead, such as the sysbench of a load client. Only where the run ends now.
    """
    directories = list(directories)
    for _ in range(_ROUNDS):
        every = processes | processes_in(directories) | (processes_led_by(processes) if with_groups else {})
        if not any(start_time(pid) == began for pid, began in every.items()):
            return
        _end(every)


def _end(processes: dict[int, str]) -> None:
    """Terminate the processes, then kill those still there; a pid that began at another time is not ours."""
    # A stopped process takes SIGTERM only when it goes on.
    for signals, patience_s in (((signal.SIGTERM, signal.SIGCONT), TERMINATE_TIMEOUT_S), ((signal.SIGKILL,), 5.0)):
        for number in signals:
            for pid, began in processes.items():
                if start_time(pid) == began:
                    with suppress(ProcessLookupError, PermissionError):
                        os.kill(pid, number)
        deadline = time.monotonic() + patience_s
        while any(start_time(pid) == began for pid, began in processes.items()) and time.monotonic() < deadline:
            time.sleep(_POLL_S)
