"""Every command fits its terminal without cutting a word; what goes to a file or a pipe has no width."""

import json
import re
import sys
from dataclasses import replace

import pytest

from dbdyno.cli import doctor as cli_doctor
from dbdyno.cli.commands import COMMANDS
from dbdyno.cli.program import run as run_command
from dbdyno.observe import doctor
from synthetic_run import SYSTEMS, write_run

COMMANDS_WITHOUT_A_RUN = [["list"], ["list", "--details"], ["systems"], ["systems", "--details"], ["doctor", "game"]]
OF_A_RUN = [["show"], ["show", "--details"], ["explain"], ["compare"], ["compare", "--baseline", "redis"]]
WIDTHS = [80, 60]
LONG = replace(SYSTEMS[2], label="mariadb innodb_flush_log_at_trx_commit=1 sync_binlog=1 innodb_doublewrite=off")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A folder of runs of systems with short and long names, with something of what can go wrong."""
    folder = tmp_path_factory.mktemp("runs")
    faults = {("lmdb", 4): "mismatch", ("redis", 8): "client-limited", ("mariadb", 2): "outage"}
    write_run(folder / "five", (*SYSTEMS, LONG), seconds=6, faults=faults)
    for name in ("before", "after"):
        write_run(folder / name, (SYSTEMS[0], LONG), clients=(1, 2), repeats=3)
    return folder


@pytest.fixture
def output(monkeypatch, capsys, fake_load, tmp_path):
    """Return a function that runs a command on a terminal of a width, or on none, and returns what it printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(doctor, "WATCH_S", 0.01)

    def of(arguments, width=None):
        monkeypatch.setattr(sys, "argv", ["dbdyno", *arguments])
        monkeypatch.setenv("COLUMNS", str(width)) if width else monkeypatch.delenv("COLUMNS", raising=False)
        capsys.readouterr()
        assert run_command(arguments) in (0, 1)
        return capsys.readouterr().out

    return of


def words_of(text):
    """The words of a text; marks of a sentence's end and of a list do not count."""
    return {word.strip("…,.:;") for word in text.split()} - {""}


def check(output, arguments, width):
    narrow, whole = output(arguments, width), output(arguments)
    for line in narrow.splitlines():
        # A path or a name that is longer than the terminal stays whole.
        assert len(line) <= width or max(map(len, line.split())) > width - 12, line
    rest = re.sub(r"Too narrow for: [^.]*\.|\d+ more: dbdyno .*| \\$", "", narrow, flags=re.MULTILINE)
    assert words_of(rest) <= words_of(whole)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("arguments", OF_A_RUN, ids=" ".join)
def test_what_is_said_of_a_run_fits(output, runs, arguments, width):
    command, *options = arguments
    check(output, [command, str(runs / "five"), *options], width)


@pytest.mark.parametrize("width", WIDTHS)
def test_what_is_said_of_several_runs_fits(output, runs, width):
    both = str(runs / "before"), str(runs / "after")
    for arguments in (["compare", *both], ["gate", *both], ["history", str(runs)]):
        check(output, arguments, width)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("arguments", COMMANDS_WITHOUT_A_RUN, ids=" ".join)
def test_what_is_said_of_the_host_and_its_systems_fits(output, monkeypatch, arguments, width):
    # Other processes do something else each time.
    findings = cli_doctor.examine(None)
    monkeypatch.setattr(cli_doctor, "examine", lambda *_: findings)
    check(output, arguments, width)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_every_command_fits(output, command):
    text = output([command, "--help"], 80)
    assert max(map(len, text.splitlines())) <= 80 and words_of(text) <= words_of(output([command, "--help"], 200))


def test_without_a_terminal_a_line_is_as_long_as_it_is(output, runs):
    text = output(["show", str(runs / "five"), "--details"])
    assert "Too narrow" not in text and max(map(len, text.splitlines())) > 200


def test_json_has_no_width(output, runs):
    arguments = ["show", str(runs / "before"), "--json"]
    assert json.loads(output(arguments, 60)) == json.loads(output(arguments))
