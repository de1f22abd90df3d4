"""The options that commands share."""

import click

from dbdyno.cli.options import experiment_options


def test_a_command_has_them_in_their_order():
    command = click.command(experiment_options(lambda **options: None))
    names = [parameter.name for parameter in command.params]
    assert names[:2] == ["clients", "seconds"] and names[-1] == "quiet" and len(names) == len(set(names))
