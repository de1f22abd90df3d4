"""A small run with a closed and an open loop, for the tests of all tables."""

import pytest

from dbdyno.results.read import read_run
from synthetic_run import SYSTEMS, write_run


@pytest.fixture(scope="package")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "small"
    return read_run(write_run(folder, SYSTEMS[2:], clients=(1, 2), seconds=3, rates=(None, 800)))
