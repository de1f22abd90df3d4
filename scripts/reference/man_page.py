"""The manual page of the command line, in roff (man(7)): what `--help` prints of every command, on one page."""

import inspect
from collections.abc import Iterator

import click

from dbdyno import __version__
from dbdyno.cli.commands import dbdyno

ENVIRONMENT = {
    "DBDYNO_PASSWORD": "The password of a server that is attached by URL.",
    "DBDYNO_PASSWORD_FILE": "A file with that password, which only you can read.",
    "DBDYNO_LOAD": "The program dbdyno-load, if it is not where installers put it.",
    "DBDYNO_DATA_DIR": "Where private servers keep their data; by default the directory for temporary files.",
    "NO_COLOR": "If it is set, the output has no colours.",
}
STATUS = {
    "0": "Success.",
    "1": "A run failed, or an answer was wrong; gate: it is slower.",
    "2": "The command cannot be done as it was given.",
    "130": "Interrupted.",
}


def man_page() -> str:
    """Return the page dbdyno(1)."""
    context = click.Context(dbdyno, info_name="dbdyno")
    lines = [
        '.\\" Written by `make reference`.',
        f'.TH DBDYNO 1 "" "dbdyno {__version__}" "User Commands"',
        *(".SH NAME", f"dbdyno \\- {_text(inspect.cleandoc(dbdyno.help or '').removesuffix('.'))}"),
        *(".SH SYNOPSIS", ".B dbdyno", "COMMAND [OPTIONS] [ARGUMENTS]", ".SH COMMANDS"),
        *(line for name in dbdyno.list_commands(context) for line in _command(context, name)),
        *(".SH ENVIRONMENT", *_terms(ENVIRONMENT), ".SH EXIT STATUS", *_terms(STATUS)),
    ]
    return "\n".join(lines) + "\n"


def _command(parent: click.Context, name: str) -> Iterator[str]:
    """Yield the lines of a command, then those of its own commands."""
    group = parent.command
    assert isinstance(group, click.Group)
    command = group.get_command(parent, name)
    assert command
    context = click.Context(command, info_name=name, parent=parent)
    yield f".SS {_text(' '.join([context.command_path, *command.collect_usage_pieces(context)]))}"
    paragraphs = [_text(" ".join(text.split())) for text in inspect.cleandoc(command.help or "").split("\n\n")]
    yield from "\n.PP\n".join(paragraphs).split("\n")
    records = [record for option in command.params if (record := option.get_help_record(context))]
    yield from _terms({term: meaning for term, meaning in records if meaning})
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            yield from _command(context, inner)


def _terms(meanings: dict[str, str]) -> Iterator[str]:
    for term, meaning in meanings.items():
        yield from (".TP", f".B {_text(term)}", _text(meaning))


def _text(text: str) -> str:
    """Return text that roff prints as it is: neither a backslash nor the begin of a line is a command."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped
