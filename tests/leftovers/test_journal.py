"""A journal says what is there, and only whoever holds it may remove that."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from dbdyno.leftovers import journal as module
from dbdyno.leftovers.journal import Journal, journals, path_of_new, state_folder


@pytest.fixture(autouse=True)
def states(tmp_path, monkeypatch):
    monkeypatch.setenv("DBDYNO_STATE_DIR", str(tmp_path / "states"))


@pytest.fixture
def journal():
    journal = Journal.create(path_of_new())
    yield journal
    journal.remove()
    assert not journals()


def test_it_says_what_is_there_and_not_what_was(journal):
    for line in [("pid", 7, "70"), ("pid", 8, "80"), ("done", 8), ("dir", "/a\nb"), ("dir", "/c"), ("removed", "/c")]:
        journal.write(*line)
    journal.write("mount", "/m")
    journal.write("cgroup", "/g")
    journal.write("switch", "/s")
    entries = journal.entries()
    assert (entries.processes, entries.directories) == ({7: "70"}, {Path("/a\nb")})
    assert (entries.mounts, entries.cgroups, entries.switches) == ({Path("/m")}, {Path("/g")}, {Path("/s")})


def test_a_line_that_was_cut_short_is_none(journal):
    journal.write("dir", "/a")
    with journal.path.open("a") as file:
        file.write('["dir", "/b')
    assert journal.entries().directories == {Path("/a")}


def test_only_directories_outlive_the_host(journal, monkeypatch):
    journal.write("dir", "/a")
    journal.write("pid", 7, "70")
    monkeypatch.setattr(module, "_boot", lambda: "another")
    entries = journal.entries()
    assert (entries.directories, entries.processes) == ({Path("/a")}, {})


def test_it_is_taken_when_its_holder_is_gone_and_not_before():
    script = "import sys; from dbdyno.leftovers.journal import Journal, path_of_new; j = Journal.create(path_of_new())"
    holder = subprocess.Popen(
        [sys.executable, "-c", f"{script}; print(j.path, flush=True); sys.stdin.read()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    path = Path(holder.stdout.readline().strip())
    assert journals() == [path]
    assert Journal.take(path, wait=False) is None
    holder.kill()
    holder.communicate()
    taken = Journal.take(path, wait=True)
    assert taken.path == path
    taken.remove()
    assert Journal.take(path, wait=True) is None


def test_a_journal_of_another_user_is_not_taken(monkeypatch):
    """It could name any directory of whoever takes it."""
    path = path_of_new()
    path.write_text('["dir", "/precious"]\n')
    uid = module.os.geteuid()
    monkeypatch.setattr(module.os, "geteuid", lambda: uid + 1)
    assert Journal.take(path, wait=False) is None
    monkeypatch.setattr(module.os, "geteuid", lambda: uid)
    Journal.take(path, wait=False).remove()


def test_a_persons_file_in_the_folder_is_no_journal(journal):
    """A sweep removed it, as there was nothing in it that still had to be removed."""
    (mine := journal.path.with_name(f"{socket.gethostname()}-mine.journal")).write_text("precious\n")
    assert journals() == [journal.path]
    mine.unlink()


def test_where_there_can_be_no_folder_it_is_among_temporary_files(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("DBDYNO_STATE_DIR", str(tmp_path / "file" / "states"))
    journal = Journal.create(path_of_new())
    assert journal.path.is_file() and journals() == []
    journal.remove()


def test_where_states_are_kept(monkeypatch, tmp_path):
    monkeypatch.delenv("DBDYNO_STATE_DIR")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(module.os, "geteuid", lambda: 1000)
    assert state_folder() == tmp_path / "dbdyno"
    monkeypatch.setattr(module.os, "geteuid", lambda: 0)
    assert state_folder() == Path("/var/lib/dbdyno")
