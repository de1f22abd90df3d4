"""The program that tests of Tokyo Tyrant start."""

import shutil
import tempfile
from pathlib import Path

import pytest

STAND_IN = Path(__file__).with_name("stand_in.py")


@pytest.fixture(params=["stand-in", "ttserver"])
def program(request):
    """The path of a program that is ttserver, or stands in for it, where the user of servers gets to it."""
    if request.param == "ttserver":
        if not (path := shutil.which("ttserver")):
            pytest.skip("this host has no ttserver, and no registry has one")
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = shutil.copy(STAND_IN, Path(folder) / "ttserver")
        Path(path).chmod(0o755)
        yield path
