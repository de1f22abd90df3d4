"""The card in the terminal names versions and a command that can be copied."""

import io
import shlex

from rich.console import Console

from dbdyno.report.sections.fairness import command_lines, print_card, versions

COMMAND = "dbdyno run game --system 'mariadb?sql_mode=a b' --clients 1,4,16 --seconds 20 --repeat 5"


def test_a_command_of_several_lines_is_one_to_a_shell():
    lines = list(command_lines(COMMAND, 40))
    assert len(lines) > 2 and max(map(len, lines)) <= 40
    assert shlex.split("\n".join(lines).replace(" \\\n", " ")) == shlex.split(COMMAND)
    assert list(command_lines("it's torn", 5)) == ["it's torn"]


def test_every_version_is_there_once_the_programs_last():
    systems = [{"card": {"versions": f"{server}, dbdyno-load 1, dbdyno 2"}} for server in ("a 3", "b 4", "a 3")]
    assert versions(systems) == "a 3, b 4, dbdyno-load 1, dbdyno 2"
    assert versions([{"card": {}}]) == ""


def test_the_card_ends_with_how_to_repeat_it():
    console = Console(file=io.StringIO(), width=80, color_system=None)
    fairness = {"short": ["default settings"], "not_seen": ["pressure: no"], "systems": [], "command": COMMAND}
    print_card(fairness, console)
    text = console.file.getvalue()
    assert max(map(len, text.splitlines())) <= 80
    assert text.index("default settings") < text.index("not seen: pressure") < text.index("dbdyno run game")
