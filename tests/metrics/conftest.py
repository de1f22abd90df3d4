"""A trial and its records, for the tests of both ways."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from dbdyno.conduct.listener import Outcome
from dbdyno.experiment.rate import Rate
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.experiment.trials import Trial
from dbdyno.metrics.figures import Figures
from fakes.load_client import histogram
from helpers import workload

LABELS = {
    "experiment": "mine",
    "run": "a-run",
    "trial": "001-redis-game-c8",
    "system": "redis",
    "workload": "game",
    "clients": "8",
    "rate": "",
    "repeat": "1",
}


def interval(completed=2000, **keys):
    """A second of the load client: all transactions took 4 ms."""
    times = {"service_time": histogram(completed, 4_000_000)}
    transactions = {"completed": completed, "failed": 0, **times, **keys.pop("transactions", {})}
    plain = {"second": 0, "warmup": False, "seconds": 1.0, "connected": 8, "errors": {}, "client_cpu_s": 0.25}
    return {"record": "interval", **plain, **keys, "transactions": transactions}


@pytest.fixture
def trial():
    return Trial("001-redis-game-c8", SystemSpec("redis", label="redis"), workload("game"), 8, 1)


@pytest.fixture
def open_trial():
    rate = Rate("constant", (500,))
    return Trial("002-redis-game-c8-r500", SystemSpec("redis", label="redis"), workload("game"), 8, 1, rate)


@pytest.fixture
def figures():
    """The figures of a run that has begun."""
    begun = Figures("mine")
    begun.run_begins(Path("runs/a-run"), 3, 10)
    return begun


def ended(trial, state="complete"):
    return Outcome(trial, state, None, 2000, 1.0, {})


def named(values):
    """Values of a metric by label, each label as text."""
    return [SimpleNamespace(labels=dict(labels), value=value) for labels, value in values.items()]
