"""What tests of several systems share."""

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
        one = system(text)
        systems.append(one)
        one.start(launch)
        return one

    yield start
    for one in systems:
        one.stop()
