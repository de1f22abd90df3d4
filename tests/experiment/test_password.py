"""A password from outside is remembered, and is in no environment any more."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dbdyno.errors import UserError
from dbdyno.experiment.password import FILE_VARIABLE, VARIABLE, given_password, take_from_environment

OTHERS = ("PGPASSWORD", "MYSQL_PWD", "REDISCLI_AUTH")
PROGRAM = """
import os, subprocess
from pathlib import Path
from dbdyno.experiment.password import given_password, take_from_environment
take_from_environment()
print(given_password(), Path("/proc/self/environ").read_bytes().count(b"hid-den"), flush=True)
pid = os.fork()
if not pid:
    print(Path("/proc/self/environ").read_bytes().count(b"hid-den"), flush=True)
    os._exit(0)
os.waitpid(pid, 0)
print(subprocess.run(["env"], capture_output=True).stdout.count(b"hid-den"))
"""


def test_it_is_remembered_and_taken_out(monkeypatch):
    for name in (VARIABLE, *OTHERS):
        monkeypatch.setenv(name, "hid-den")
    take_from_environment()
    assert given_password() == given_password() == "hid-den"
    assert not {VARIABLE, *OTHERS} & os.environ.keys()


def test_neither_a_fork_nor_a_program_has_it_in_its_environment():
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[3] / "python"), "A": "1"}
    environment |= dict.fromkeys((VARIABLE, *OTHERS), "hid-den")
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    assert sorted(done.stdout.split("\n")) == ["", "0", "0", "hid-den 0"]


def test_a_file_that_others_may_read_is_refused(monkeypatch, tmp_path):
    file = tmp_path / "password"
    file.write_text("hid-den\nmore\n")
    monkeypatch.setenv(FILE_VARIABLE, str(file))
    file.chmod(0o640)
    with pytest.raises(UserError, match=f"others may read {file}: chmod 600 {file}"):
        given_password()
    file.chmod(0o600)
    assert given_password() == "hid-den"
    monkeypatch.setenv(VARIABLE, "other")
    with pytest.raises(UserError, match="both give a password"):
        given_password()


@pytest.mark.parametrize("content", [None, b"\xff\n"])
def test_a_file_that_cannot_be_read_is_told(monkeypatch, tmp_path, content):
    file = tmp_path / "password"
    monkeypatch.setenv(FILE_VARIABLE, str(file))
    if content:
        file.touch(0o600)
        file.write_bytes(content)
    with pytest.raises(UserError, match=f"{FILE_VARIABLE}: .*password cannot be read"):
        given_password()
