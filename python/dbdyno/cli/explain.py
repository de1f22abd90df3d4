"""`dbdyno explain`: what limited each trial, and what to try next."""

from dbdyno.cli.console import make_console
from dbdyno.cli.find_run import find_run
from dbdyno.errors import UserError
from dbdyno.report.document import document
from dbdyno.report.explain import print_explanations, trials_named
from dbdyno.results.foreign_content import understood
from dbdyno.results.read import read_run


def command(run: str, trial: str | None) -> int:
    """Print what limited each trial of a run, or one that is named."""
    folder = find_run(run)
    with understood(folder):
        run_document = document(read_run(folder), timelines=False)
        chosen = trials_named(run_document, trial)
        if not chosen:
            known = f"; the first is {run_document['trials'][0]['trial']}" if run_document["trials"] else ""
            raise UserError(f"'{trial}' is not a trial of this run, which has {len(run_document['trials'])}{known}")
        print_explanations(run_document, chosen, make_console())
    return 0
