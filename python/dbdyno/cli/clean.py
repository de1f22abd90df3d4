"""`dbdyno clean`: removes from somebody else's store what an earlier run left there."""

import click

from dbdyno.conduct.clean import clean
from dbdyno.errors import UserError
from dbdyno.experiment.system_spec import parse_system, with_labels


def command(url: str, dry_run: bool) -> int:
    """Remove what dbdyno left on the store at a URL, or only list it, and print it."""
    try:
        (spec,) = with_labels([parse_system(url)])
    except ValueError as error:
        raise UserError(str(error)) from None
    cleaned = clean(spec, dry_run)
    if cleaned.removed:
        click.echo(f"{spec.label}: {'would remove' if dry_run else 'removed'} {', '.join(cleaned.removed)}")
    for sentence in cleaned.left:
        click.echo(f"{spec.label}: {sentence}")
    nothing = [] if dry_run and cleaned.removed else ["nothing of dbdyno is left there"]
    for sentence in cleaned.cannot_know or nothing:
        click.echo(f"{spec.label}: {sentence}")
    return 0
