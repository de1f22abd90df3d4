"""Helpers for the tests of several packages."""

import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dbdyno.experiment.model import Experiment
from dbdyno.experiment.read import NamedExperiment
from dbdyno.experiment.system_spec import parse_system, with_labels
from dbdyno.experiment.workload_spec import WorkloadSpec, parse_workload
from dbdyno.observe.stacks.permission import in_words, not_seen
from dbdyno.systems import build, missing
from dbdyno.systems.base import Launch, System
from dbdyno.systems.running.guard import Guard

PATIENCE_S = 30.0
PATIENCE_MS = 120_000
"""The time limit of a page on a crowded host; conditions are waited for, so it costs nothing elsewhere."""


def need(*names: str) -> None:
    """Skip the test where a system or a version of one is not installed; with CI=true that is a failure."""
    for name in names:
        if reason := missing(parse_system(name)):
            pytest.fail(reason) if os.environ.get("CI") == "true" else pytest.skip(reason)


def need_stacks() -> None:
    """Skip the test where stacks cannot be recorded: that is a setting of the host, which no test may change."""
    if reasons := not_seen():
        pytest.skip(str(in_words(reasons)))


def system(text: str) -> System:
    """Build the system of a specification."""
    (spec,) = with_labels([parse_system(text)])
    return build(spec)


@contextmanager
def running(text: str, folder: Path, clients: int = 8, rows: int = 100) -> Iterator[System]:
    """Run a separate system, for a test or for all tests of a module; `folder` gets its logs."""
    need(text.split("?", maxsplit=1)[0])
    server = system(text)
    with Guard() as guard:
        try:
            server.start(Launch(guard, folder, clients=clients, rows=rows))
            yield server
        finally:
            server.stop()


def workload(text: str, **options: str) -> WorkloadSpec:
    """Return a workload with its options, `batch-get?batch=10`, and those of the experiment beside."""
    return parse_workload(text, {}, options)


def wait_until(condition: Callable[[], object], patience_s: float = PATIENCE_S) -> object:
    """Poll until `condition()` holds, and return what it returned; fail if it never does."""
    deadline = time.monotonic() + patience_s
    while not (value := condition()):
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)
    return value


def experiment(**keys: object) -> NamedExperiment:
    """Return a small experiment on the fake system, with `keys` replacing its own."""
    least = {"workload": "game", "system": "fake", "rows": 10, "clients": [1, 2], "seconds": 2, "warmup_seconds": 1}
    return NamedExperiment("mine", Experiment.model_validate(least | keys))


def need_program(name: str, package: str) -> None:
    """Skip the test where a program is not installed; with CI=true that is a failure."""
    if shutil.which(name) is None:
        reason = f"{name} is not installed: apt install {package}"
        pytest.fail(reason) if os.environ.get("CI") == "true" else pytest.skip(reason)


def need_proxysql() -> None:
    """Skip the test where ProxySQL is not installed, which no registry has."""
    if shutil.which("proxysql") is None:
        pytest.skip("this host has no proxysql, and no registry has one")


def host_library(name: str) -> str:
    """Return the path of the host's shared library, `pq` of libpq; skip the test if it is not installed."""
    listed = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    paths = re.findall(rf"^\s*lib{name}\.so[.\d]* .*=> (\S+)$", listed, re.MULTILINE)
    if not paths:
        said = f"lib{name} is not installed"
        pytest.fail(said) if os.environ.get("CI") == "true" else pytest.skip(said)
    return paths[0]
