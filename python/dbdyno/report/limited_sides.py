"""The sides of a comparison whose trials the client decided, not the store (docs/statistics.md, section 3.1)."""

from collections.abc import Collection

from dbdyno.results.client_limit import majority
from dbdyno.results.model import Trial
from dbdyno.results.usable import unusable
from dbdyno.verdict.judge import judged


def client_decided(trials: Collection[Trial]) -> bool:
    """Return whether the client limited most of a side's usable trials: then its figure is a lower bound."""
    return majority(_limited(trials))


def times_limited(trials: Collection[Trial]) -> int:
    """Return how many of a side's usable trials the client limited."""
    return sum(_limited(trials))


def _limited(trials: Collection[Trial]) -> list[bool]:
    return [judged(trial).client_limited is not None for trial in trials if not unusable(trial)]
