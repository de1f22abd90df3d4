"""A PostgreSQL that was killed leaves no shared memory, and another one keeps its own."""

import os
import signal
from contextlib import contextmanager
from pathlib import Path

import pytest

from dbdyno.leftovers.processes import processes_in
from dbdyno.leftovers.shared_memory import SEGMENTS, remove_shared_memory
from helpers import need, system, wait_until


def segments():
    """Every segment of the host that is PostgreSQL's: names in /dev/shm and numbers of System V's."""
    numbers = [line.split()[1] for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]]
    return {path.name for path in SEGMENTS.glob("PostgreSQL.*")} | set(numbers)


@contextmanager
def running(name, launch):
    need("postgresql")
    server = system(name)
    try:
        server.start(launch)
        yield server
    finally:
        server.stop()


@pytest.mark.parametrize("settings", ["", "?shared_memory_type=sysv", "?dynamic_shared_memory_type=sysv"])
def test_what_a_killed_server_leaves_is_removed_and_nothing_of_another(settings, launch):
    before = segments()
    with running("postgresql", launch) as other:
        others = segments() - before
        with running(f"postgresql{settings}", launch) as killed:
            own = segments() - before - others
            os.kill(killed.server_pids()["postgresql"], signal.SIGKILL)
            wait_until(killed.death)
            wait_until(lambda: not processes_in(killed.data_directories()))
            assert own and own <= segments()
        assert not own & segments() and others <= segments()
        assert other.death() is None
    assert segments() == before


def test_a_kill_by_dbdyno_leaves_none(launch):
    before = segments()
    with running("postgresql", launch) as killed:
        killed.kill()
        assert segments() == before
        killed.start_again()


def test_of_a_server_that_lives_nothing_is_removed(launch):
    with running("postgresql", launch) as server:
        before = segments()
        remove_shared_memory(server.data_directories()[0] / "data")
        assert segments() == before


def test_a_file_that_says_something_else_removes_nothing(tmp_path):
    before = segments()
    for text in ("", "1\n2\n", "1\n\n\n\n\n\nnone\n", "1\n\n\n\n\n\n 0 0\n"):
        (tmp_path / "postmaster.pid").write_text(text)
        remove_shared_memory(tmp_path)
    assert segments() == before
