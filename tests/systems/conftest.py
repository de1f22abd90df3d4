"""Fixtures for tests of several systems."""

import pytest

from dbdyno.experiment.system_spec import parse_system
from dbdyno.systems import class_of
from helpers import need, system


@pytest.fixture
def started(launch):
    """Start systems, and stop them after the test; one whose server is not installed skips it."""
    systems = []

    def start(text, launch=launch):
        if not (spec := parse_system(text)).attached:
            need(text if class_of(spec).path_of(spec) else spec.product)
        started_system = system(text)
        systems.append(started_system)
        started_system.start(launch)
        return started_system

    yield start
    for started_system in systems:
        started_system.stop()
