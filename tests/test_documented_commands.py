"""Every command that a document shows or a verdict names is one: its options exist, and what it runs can be built."""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from dbdyno.cli.commands import dbdyno
from dbdyno.cli.overrides import overrides_of
from dbdyno.conduct.clients import driven
from dbdyno.errors import UserError
from dbdyno.experiment.read import read_experiment
from dbdyno.experiment.workload_spec import missing_operations
from dbdyno.systems import build
from dbdyno.systems.packages.versions import in_range
from golden.stored import unpack

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted([ROOT / "README.md", ROOT / "benches/README.md", *ROOT.glob("docs/**/*.md")])
INLINE = re.compile(r"(?<!`)`(?:[A-Z_]+=\S+ )*(dbdyno [^`]+)`(?!`)")
STANDS_FOR = re.compile(r"…|\.\.\. |\b(?:[A-Z]{3,}|[A-Z]_[A-Z]+)\b(?![=\d])|\$[A-Z]|\?(?:basedir|bindir|binary|home)=/")
"""Placeholders that a person replaces."""
OF_RUN_ALONE = ("rate", "find_rate", "pipeline", "precise", "until_flat", "profile")
"""Options that `run` has and `aa` has not."""
OWN_FILES = ("buffer-pool.toml", "sessions.toml", "mine.toml", "workloads/workloada")
"""Experiment files that a document has a person write or bring."""


def commands_in(text: str) -> Iterator[tuple[int, str, bool]]:
    """Return each command of dbdyno in a document: its line, its text, and whether it is one to be typed as it is.

    That it is in blocks of code; a sentence may name no more than a part of one.
    """
    number, joined, in_block = 0, "", False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            in_block = not in_block
        elif in_block:
            joined += line.removesuffix("\\").removeprefix("$ ")
            if not line.endswith("\\"):
                if joined.lstrip().startswith("dbdyno "):
                    yield number, joined, True
                joined = ""
        else:
            yield from ((number, command, False) for command in INLINE.findall(line))


SHOWN = [
    pytest.param(text, whole, id=f"{path.relative_to(ROOT)}:{number}")
    for path in DOCUMENTS
    for number, text, whole in commands_in(path.read_text())
]


def test_commands_are_found_in_blocks_over_several_lines_and_in_sentences():
    text = (
        "Say `dbdyno list`, or `A=1 dbdyno show`.\n```\ndbdyno run x \\\n  --rows 5   # five\nmake y\n```\n`dbdyno`\n"
    )
    commands = [(number, " ".join(command.split()), whole) for number, command, whole in commands_in(text)]
    said = [(1, "dbdyno list", False), (1, "dbdyno show", False)]
    assert commands == [*said, (4, "dbdyno run x --rows 5 # five", True)]
    assert len(SHOWN) > 150


@pytest.mark.parametrize(("text", "whole"), SHOWN)
def test_a_command_that_is_shown_can_be_given(text, whole, monkeypatch):
    monkeypatch.chdir(ROOT)
    try:
        check_command(text)
    except click.MissingParameter:
        assert not whole


NEXT = sorted(
    {
        json.loads(text)
        for file in (ROOT / "tests/golden/expected").glob("*/verdicts.json")
        for text in re.findall(r'"command": ("dbdyno run .*")', file.read_text())
    }
)
"""Commands that verdicts on recorded runs name next."""


@pytest.mark.parametrize("text", NEXT)
def test_a_command_that_a_verdict_names_next_can_be_given(text, monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    if "client-groups.toml" in text:
        # Its run has the file.
        text = text.replace("client-groups.toml", str(unpack("client-groups", tmp_path) / "experiment.toml"))
    check_command(text)


def test_verdicts_name_commands():
    assert len(NEXT) > 50 and any("client-groups" in text for text in NEXT)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("dbdyno run game --bogus 5", "No such option"),
        ("dbdyno runn game", "No such command"),
        ("dbdyno run gmae", "neither a file nor a shipped experiment"),
        ("dbdyno run game --rows many", "not a valid integer"),
        ("dbdyno run game --set opions.access=zipfian", "opions"),
        ("dbdyno run game --system 'mariadb?acess=handler&access=x'", "access"),
        ("dbdyno run tpcc --system redis", "cannot do"),
        ("dbdyno run examples/writer-and-readers.toml --system mariadb --clients 3", "groups of clients"),
        ("dbdyno systems instal", "is no command"),
    ],
)
def test_a_command_that_is_none_is_seen(text, said):
    with pytest.raises((click.UsageError, UserError, AssertionError), match=said):
        check_command(text)


def check_command(text: str) -> None:
    """Raise what dbdyno would say of a command; of what a person is to fill in only the options are looked at."""
    words = shlex.split(text, comments=True)
    # The shell reads where the output goes.
    words = words[: words.index(">")] if ">" in words else words
    given = parse(words[1:])
    if not given.keys() >= {"experiment", "system"} or STANDS_FOR.search(" ".join(words)):
        return
    if given["experiment"] is None:
        if given["resume"] is None:
            raise click.MissingParameter(param_type="argument")
        return  # The run's folder has it.
    name = "game" if given["experiment"] in OWN_FILES else given["experiment"]
    # `aa` takes a single one.
    given["system"] = (given["system"],) if isinstance(given["system"], str) else given["system"]
    # The file with the hosts is the reader's own.
    given.pop("hosts", None)
    experiment = read_experiment(name, overrides_of(dict.fromkeys(OF_RUN_ALONE) | given), in_range).experiment
    for spec in driven(experiment):
        able = build(spec).operations
        for workload in experiment.workload:
            assert not missing_operations(workload, able), f"{spec.label} cannot do it"


def parse(arguments: list[str]) -> dict[str, Any]:
    """Return the parameters of a command, without calling it."""
    command: click.Command = dbdyno
    context = command.make_context("dbdyno", arguments)
    while isinstance(command, click.Group) and (rest := [*context._protected_args, *context.args]):
        name, command, rest = command.resolve_command(context, rest)
        context = command.make_context(name, rest, parent=context)
    return context.params
