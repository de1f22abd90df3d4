"""Every command is there, says what it is for, and is listed in the order of its use."""

import click
import pytest

from dbdyno.cli.commands import COMMANDS
from dbdyno.cli.commands import dbdyno as group
from dbdyno.cli.parser import PARSERS


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_found_by_its_name(name):
    command = group.get_command(click.Context(group), name)
    assert isinstance(command, click.Command) and command.help


def test_what_is_none_is_not_found():
    assert group.get_command(click.Context(group), "find_run") is None


def test_they_are_listed_in_order(dbdyno):
    assert group.list_commands(click.Context(group)) == list(COMMANDS)
    status, out, _ = dbdyno("--help")
    places = [out.index(f"\n  {name} ") for name in COMMANDS]
    assert status == 0 and places == sorted(places)


def test_each_line_fits_a_narrow_terminal(dbdyno):
    _, out, _ = dbdyno("--help")
    assert max(map(len, out.splitlines())) <= 80 and "..." not in out.split("Commands:")[1]


@pytest.mark.parametrize("name", [name for name, command in PARSERS.items() if isinstance(command, click.Group)])
def test_commands_of_a_command_are_listed_with_a_whole_sentence(dbdyno, name):
    _, out, _ = dbdyno(name, "--help")
    listed = out.split("Commands:")[1].strip().splitlines()
    assert listed and all(line.endswith(".") and not line.endswith("...") for line in listed)
