"""The card in the terminal names versions and a command that can be copied."""

import io
import shlex

from rich.console import Console

from dbdyno.report.sections.fairness import command_lines, print_card, print_command, versions

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


def test_the_card_in_short_and_the_command_fit():
    console = Console(file=io.StringIO(), width=60, color_system=None)
    system = {"card": {"versions": "redis 7.0.15, dbdyno-load 0.1.0, dbdyno 0.1.0"}}
    print_card({"short": ["default settings · data smaller than the cache · hot"], "systems": [system]}, console)
    print_command(COMMAND, console)
    text = console.file.getvalue()
    assert max(map(len, text.splitlines())) <= 60
    assert text.index("· default settings") < text.index("· versions: redis 7.0.15") < text.index("  dbdyno run game")
