"""Every error is one line with its status, and passwords are where nobody else can look."""

import os
import pty
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from dbdyno.cli import parser
from helpers import need, need_program, system

PYTHON = [sys.executable, "-m", "dbdyno"]
ENVIRONMENT = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[2] / "python")}


@pytest.mark.parametrize(
    ("arguments", "said", "status"),
    [
        (["run"], "Missing argument 'EXPERIMENT'. (see `dbdyno run --help`)", 2),
        (["run", "nosuch"], "'nosuch' is neither a file nor a shipped experiment", 2),
        (["run", "game", "--bogus"], "No such option", 2),
        (["show", "nosuch"], "'nosuch' is not a run", 2),
        (["run", "game", "--repeat", "1000000000"], "repeat = 1000000000: should be less than or equal to 1000", 2),
        (["run", "game", "--seconds", "9" * 20], "should be less than or equal to 604800", 2),
        (["run", "game", "--pipeline", "1000000000"], "1000000000 requests at once: at most 1,000", 2),
        (["run", "game", "--set", "a" + ".a" * 3000 + "=1"], "at most 32 deep", 2),
        (["run", "game", "--set", "rows=" + "[" * 5000], "more than 32 deep", 2),
        (["run", "game", "--system", "spread(" * 2000 + ")" * 2000], "more than 4,096 characters", 2),
        (["run", "game", "--system", "redis?save=1%0Auser x"], "a setting has no line breaks", 2),
        (["run", "game", "--system", "mariadb?datad=/x"], "as datadir, which dbdyno sets", 2),
        (["run", "game", "--system", "mysql://u@h:99999/d"], "'99999' is not a port", 2),
        (["bogus"], "No such command 'bogus'", 2),
        (["run", "game", "--system", "mysql://u:hidden@h"], "name the database", 2),
    ],
    ids=lambda value: str(value)[:60],
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

    monkeypatch.setattr(parser, "import_module", refuse)
    assert dbdyno("list") == (1, "", "dbdyno: /some/file: Permission denied\n")


def test_an_interrupt_has_the_status_of_one(dbdyno, monkeypatch):
    def interrupt(name):
        raise KeyboardInterrupt

    monkeypatch.setattr(parser, "import_module", interrupt)
    status, _, err = dbdyno("list")
    assert (status, err.strip()) == (130, "dbdyno: interrupted")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_in_a_command_that_runs_nothing_is_an_interrupt(number):
    struck = f"parser.import_module = lambda name: os.kill(os.getpid(), {int(number)})"
    ended = in_python(f"import os\nfrom dbdyno.cli import parser\n{struck}")
    assert (ended.returncode, ended.stdout, ended.stderr.strip()) == (130, "", "dbdyno: interrupted")


def test_an_interrupt_while_the_commands_are_loaded_is_no_traceback():
    ended = in_python("""
class Interrupting:
    def find_spec(name, path, target=None):
        if name == "dbdyno.cli.program":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupting)""")
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "dbdyno: interrupted\n")


def in_python(before):
    """Run `dbdyno list` in a Python that has done something before."""
    # Tests that run behind nohup have SIGHUP ignored, which children inherit.
    usual = "signal.signal(signal.SIGINT, signal.default_int_handler)\nsignal.signal(signal.SIGHUP, signal.SIG_DFL)"
    program = f"import sys, signal\n{usual}\n{before}\n"
    listed = "from dbdyno.__main__ import start\nsys.argv = ['dbdyno', 'list']\nstart()"
    command = [sys.executable, "-c", program + listed]
    return subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)


def test_on_a_terminal_a_message_breaks_at_spaces():
    reader, terminal = pty.openpty()
    command = [*PYTHON, "run", "nosuch"]
    subprocess.run(command, env=ENVIRONMENT | {"COLUMNS": "40"}, stderr=terminal, check=False)
    os.close(terminal)
    first, *others = os.read(reader, 10_000).decode().splitlines()
    os.close(reader)
    assert first.startswith("dbdyno: 'nosuch' is neither") and others
    assert max(map(len, [first, *others])) <= 40 and all(line.startswith("  ") for line in others)


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
    done = subprocess.run([*PYTHON, "list", "--details"], env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"") and b"engine=?" in done.stdout


@pytest.mark.parametrize(
    "where", [["--system", "{}"], ["--set", "system='{}'"], ["--system", "spread({}, {})"]], ids=str
)
def test_a_password_on_the_command_line_is_refused_before_anything_begins(where):
    url = "mysql://u:hid-den@127.0.0.1/d"
    command = [*PYTHON, "run", "game", *(text.replace("{}", url) for text in where)]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("dbdyno: process lists show a password on the command line")
    assert "DBDYNO_PASSWORD" in done.stderr and "hid-den" not in done.stderr


def looked_at(process: subprocess.Popen, secret: bytes) -> tuple[set[str], int]:
    """Look at all processes as fast as can be while `process` runs; return where the secret was, and how many looks.

    Its own environment is what it was given the password in.
    """
    seen, looks = set(), 0
    while process.poll() is None:
        looks += 1
        for folder in Path("/proc").glob("[0-9]*"):
            own = folder.name == str(process.pid)
            for name in ("cmdline",) if own else ("cmdline", "environ"):
                with suppress(OSError):
                    if secret in (content := (folder / name).read_bytes()):
                        seen.add(f"{name} of {content[:80]!r}")
    return seen, looks


@pytest.mark.parametrize(
    ("experiment", "more"), [("point-get", ()), ("point-get", ("--set", "client=pymysql")), ("sysbench", ())], ids=str
)
def test_a_password_is_in_no_process_list_and_in_no_childs_environment(launch, tmp_path, experiment, more):
    need("mariadb")
    need_program("sysbench", "sysbench")
    server = system("mariadb")
    try:
        server.start(launch)
        endpoint = server.endpoint
        command = [*PYTHON, "run", experiment, "--system", f"mysql://dbdyno:***@127.0.0.1:{endpoint.port}/dbdyno"]
        command += [
            "--rows",
            "100",
            "--clients",
            "1",
            "--seconds",
            "1",
            "--warmup",
            "0",
            "--out",
            str(tmp_path / "runs"),
        ]
        command += ["--set", "workload=" + experiment, "--no-observe", "--quiet", *more]
        secret, others = endpoint.password, {"PGPASSWORD": endpoint.password, "MYSQL_PWD": endpoint.password}
        environment = {**os.environ, **ENVIRONMENT, "DBDYNO_PASSWORD": secret, **others}
        with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE) as process:
            seen, looks = looked_at(process, secret.encode())
            said = process.stderr.read().decode()
        assert (process.returncode, said, seen) == (0, "", set()) and looks > 10
    finally:
        server.stop()
