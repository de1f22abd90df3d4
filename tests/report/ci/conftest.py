"""Runs of a base and a head, made up: the head does as much as the base, or less."""

from dataclasses import replace

import pytest

from dbdyno.report.ci.decisions import decisions
from dbdyno.results.read import read_run
from synthetic_run import SYSTEMS, write_run

BASE = replace(SYSTEMS[2], label="base")


def _run(folder, repeats, **of_head):
    head = replace(SYSTEMS[2], label="head", **of_head)
    return read_run(write_run(folder, (BASE, head), clients=(4,), repeats=repeats, seconds=4))


@pytest.fixture(scope="session")
def slower(tmp_path_factory):
    """A head that needs half as long again."""
    return _run(tmp_path_factory.mktemp("ci") / "slower", 5, base_us=1350, peak_per_s=6000)


@pytest.fixture(scope="session")
def same(tmp_path_factory):
    """A head that does what the base does, but for the noise."""
    return _run(tmp_path_factory.mktemp("ci") / "same", 5)


@pytest.fixture
def decided(slower, same):
    """One comparison of each run."""
    return [*decisions(slower, 0.10, [], 2), *decisions(same, 0.10, [], 2)]
