"""chDB's own ways of loading and asking; the rest is in test_analyst.py."""

from contextlib import closing

import pytest

from dbdyno.systems.base import Launch
from helpers import need, system

pytestmark = pytest.mark.systems


def test_settings_are_in_force(guard, tmp_path):
    need("chdb")
    under_test = system("chdb?threads=1&memory_limit_mib=700")
    under_test.start(Launch(guard, tmp_path, 1, 1000))
    with closing(under_test.analyst()) as analyst:
        there = dict(analyst.ask("SELECT name, value FROM system.settings"))
        assert (there["max_threads"], there["max_memory_usage"]) == ("1", str(700 << 20))
    under_test.stop()
