"""Fixtures for tests of builds."""

import tempfile
from pathlib import Path

import pytest


@pytest.fixture
def folder():
    """A folder that the user of servers gets to; pytest closes its own to others whenever another session begins."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)
