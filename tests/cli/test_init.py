"""Every error is one line with its status, and passwords are in no process list."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from dbdyno.cli import commands

PYTHON = [sys.executable, "-m", "dbdyno"]
ENVIRONMENT = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[2] / "python")}


@pytest.mark.parametrize(
    ("arguments", "said", "status"),
    [
        (["run"], "Missing argument 'EXPERIMENT'. (see `dbdyno run --help`)", 2),
        (["run", "nosuch"], "'nosuch' is neither a file nor a shipped experiment", 2),
        (["run", "game", "--bogus"], "No such option", 2),
        (["show", "nosuch"], "'nosuch' is no run", 2),
        (["bogus"], "No such command 'bogus'", 2),
        (["run", "game", "--system", "mysql://u:hidden@h"], "name the database", 2),
    ],
    ids=str,
)
def test_an_error_is_a_line_and_a_status(dbdyno, fake_load, arguments, said, status):
    got, out, err = dbdyno(*arguments)
    assert got == status
    assert out == ""
    assert err.startswith("dbdyno: ") and said in err and err.count("\n") == 1
    assert "hidden" not in err


def test_what_the_system_refuses_is_said_too(dbdyno, monkeypatch):
    def refuse(name):
        raise PermissionError(13, "Permission denied", "/some/file")

    monkeypatch.setattr(commands, "import_module", refuse)
    assert dbdyno("list") == (1, "", "dbdyno: /some/file: Permission denied\n")


def test_an_interrupt_has_the_status_of_one(dbdyno, monkeypatch):
    def interrupt(name):
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "import_module", interrupt)
    status, _, err = dbdyno("list")
    assert (status, err.strip()) == (130, "dbdyno: interrupted")


def test_without_a_command_there_is_help(dbdyno):
    status, out, err = dbdyno()
    assert (status, err) == (0, "") and out.startswith("Usage: dbdyno") and "compare" in out


def test_the_version(dbdyno):
    status, out, _ = dbdyno("--version")
    assert status == 0 and out.startswith("dbdyno 0.")


def test_a_reader_that_has_had_enough_is_not_told_of_it():
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([*PYTHON, "list"], env=ENVIRONMENT, **pipes) as process:
        process.stdout.close()
        assert process.stderr.read() == b""


def test_a_full_disk_under_the_output_is_said_once():
    with open("/dev/full", "w") as full:
        done = subprocess.run([*PYTHON, "list"], env=ENVIRONMENT, stdout=full, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (1, b"dbdyno: No space left on device\n")


def test_another_character_set_has_question_marks():
    environment = ENVIRONMENT | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run([*PYTHON, "list"], env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"") and b"engine=?" in done.stdout


def test_a_password_is_taken_out_of_the_process_list(fake_load):
    # A server that never says anything: dbdyno waits for it, and can be looked at meanwhile.
    with socket.create_server(("127.0.0.1", 0)) as mute:
        url = f"mysql://u:hid-den@127.0.0.1:{mute.getsockname()[1]}/d"
        environment = ENVIRONMENT | {"DBDYNO_LOAD": os.environ["DBDYNO_LOAD"]}
        with subprocess.Popen([*PYTHON, "run", "game", "--system", url], env=environment) as process:
            connection, _ = mute.accept()
            shown = Path(f"/proc/{process.pid}/cmdline").read_bytes()
            process.kill()
            connection.close()
    assert b"mysql://u:***@127.0.0.1" in shown and b"hid-den" not in shown
