"""Prints the result of the experiment's `[limits]`, at a run's end and when the run is shown again."""

from rich.console import Console

from dbdyno.report.core.terminal import say
from dbdyno.report.summary import INDENT
from dbdyno.results.limits import limit_sentences, limits_broken
from dbdyno.results.model import Run


def print_limits(run: Run, console: Console) -> None:
    """Print a sentence for each broken limit, or one that all hold; nothing if the experiment has no limits."""
    sentences = limit_sentences(run)
    if sentences:
        console.print()
    for sentence in sentences:
        say(console, sentence, "bold red" if limits_broken(run) else "", INDENT)
