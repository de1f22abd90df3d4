"""`--color`, which every command takes: whether its output has colours."""

import os
from typing import Any

import click

CHOICES = ("auto", "always", "never")
_KEY = "dbdyno.color"


def _choose(context: click.Context, _: click.Parameter, value: str | None) -> None:
    if value is not None:
        context.meta[_KEY] = value


def with_color(command: click.Command) -> click.Command:
    """Return a command with the option `--color`; one that has it stays as it is."""
    if not any(option.name == "color" for option in command.params):
        about = "Colours: auto on a terminal, unless NO_COLOR is set."
        command.params.append(
            click.Option(["--color"], type=click.Choice(CHOICES), callback=_choose, expose_value=False, help=about)
        )
    return command


def console_options() -> dict[str, Any]:
    """Return the options of a rich console, by the options of the running command."""
    context = click.get_current_context(silent=True)
    choice = context.meta.get(_KEY, "auto") if context else "auto"
    if choice == "always":
        return {"color_system": "standard", "no_color": False}
    if choice == "never" or os.environ.get("NO_COLOR"):
        # Rich keeps bold with `no_color`; without a colour system it sends no escape at all.
        return {"color_system": None}
    return {}
