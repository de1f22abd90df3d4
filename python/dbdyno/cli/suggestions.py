"""A shell's completions of arguments: experiments and runs. Nothing here loads more than the parser."""

import click
from click.shell_completion import CompletionItem

from dbdyno.cli.find_run import RUNS
from dbdyno.experiment.shipped_files import shipped_experiments


def suggest_experiments(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Return the shipped experiments that begin so, or let the shell complete a file if there are none."""
    return _beginning_with(begun, list(shipped_experiments())) or [CompletionItem(begun, type="file")]


def suggest_runs(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Return `last` and the runs in ./runs that begin so, newest first, or let the shell complete a folder."""
    runs = sorted((path.parent.name for path in RUNS.glob("*/run.json")), reverse=True)
    return _beginning_with(begun, [*(["last"] if runs else []), *runs]) or [CompletionItem(begun, type="dir")]


def _beginning_with(begun: str, words: list[str]) -> list[CompletionItem]:
    return [CompletionItem(word) for word in words if word.startswith(begun)]
