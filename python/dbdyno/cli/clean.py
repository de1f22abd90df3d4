"""`dbdyno clean`: removes from somebody else's store what an earlier run left there."""

import click

from dbdyno.conduct.clean import clean
from dbdyno.errors import UserError
from dbdyno.experiment.system_spec import parse_system, with_labels


@click.command
@click.argument("url")
def command(url: str) -> int:
    """Remove dbdyno's leftovers, and nothing else, from the store at URL, e.g. mysql://user@host/database."""
    try:
        (spec,) = with_labels([parse_system(url)])
    except ValueError as error:
        raise UserError(str(error)) from None
    cleaned = clean(spec)
    if cleaned.removed:
        click.echo(f"{spec.label}: removed {', '.join(cleaned.removed)}")
    for sentence in cleaned.left:
        click.echo(f"{spec.label}: {sentence}")
    for sentence in cleaned.cannot_know or ["nothing of dbdyno is left there"]:
        click.echo(f"{spec.label}: {sentence}")
    return 0
