"""The page of the command line: every command with its arguments and options, as `--help` has them."""

import inspect
from collections.abc import Iterator

import click
from scripts.reference.markdown import code, page, prose, table

from dbdyno.cli.commands import dbdyno

INTRODUCTION = """
With `--help` each command prints its part of this page.
[Command line by example](../command-line.md) shows each command at work.
"""


def cli_page() -> str:
    """Return the page of all commands."""
    context = click.Context(dbdyno, info_name="dbdyno")
    parts = [_command(context, name) for name in dbdyno.list_commands(context)]
    return page("Command line", prose(INTRODUCTION), *(part for group in parts for part in group))


def _command(parent: click.Context, name: str, level: int = 2) -> Iterator[str]:
    """Yield the section of a command, and those of its own commands."""
    group = parent.command
    assert isinstance(group, click.Group)
    command = group.get_command(parent, name)
    assert command
    context = click.Context(command, info_name=name, parent=parent)
    yield f"{'#' * level} {context.command_path}"
    yield from (prose(paragraph) for paragraph in inspect.cleandoc(command.help or "").split("\n\n"))
    yield f"```\nUsage: {' '.join([context.command_path, *command.collect_usage_pieces(context)])}\n```"
    rows = [row for parameter in command.get_params(context) for row in _option(parameter, context)]
    if rows:
        yield table(("Option", "Meaning"), rows)
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            yield from _command(context, inner, level + 1)


def _option(parameter: click.Parameter, context: click.Context) -> Iterator[tuple[str, str]]:
    """Yield the row of an option; arguments are in the usage, and every command has `--help`."""
    record = parameter.get_help_record(context)
    if not record or not isinstance(parameter, click.Option) or "--help" in parameter.opts:
        return
    default = parameter.default
    default_words = f" Default: {code(default)}." if _is_worth_telling(parameter, default) else ""
    yield code(record[0]), record[1] + default_words


def _is_worth_telling(option: click.Option, default: object) -> bool:
    is_simple = not option.is_flag and not option.show_default and not callable(default)
    return is_simple and not option.multiple and default is not None and str(default) != "Sentinel.UNSET"
