"""Shared by the tests of conduct: a run going on in a folder, with nobody listening."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dbdyno.conduct.context import Context
from dbdyno.conduct.interrupt import Interrupts
from dbdyno.conduct.journal import Journal
from dbdyno.conduct.lineup import build_lineup
from dbdyno.conduct.listener import Listener
from dbdyno.results.facts import RunFacts
from dbdyno.results.write import RunFolder
from dbdyno.systems.running.guard import Guard
from fakes.system import FakeSystem
from helpers import experiment


@pytest.fixture
def interrupts() -> Iterator[Interrupts]:
    """Signals handled as in a run."""
    with Interrupts() as interrupts:
        yield interrupts


@pytest.fixture
def context(
    tmp_path: Path, guard: Guard, interrupts: Interrupts, fake_system: type[FakeSystem]
) -> Callable[..., Context]:
    """Return a function that makes the context of a run, of the small experiment with the given keys."""

    def make(**keys: object) -> Context:
        folder = RunFolder.create(tmp_path, "run", 0)
        journal = Journal(folder, RunFacts())
        made = experiment(**keys).experiment
        return Context(made, folder, guard, interrupts, Listener(), journal, build_lineup(made, made.system))

    return make
