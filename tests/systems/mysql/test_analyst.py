"""This protocol's own ways of loading and asking; the rest is in test_analyst.py."""

from contextlib import closing

from dbdyno.analytics.columns import FLIGHTS, TABLE
from dbdyno.systems.base import Launch
from helpers import need, system


def test_the_table_is_made_in_the_engine_asked_for(guard, tmp_path):
    need("mariadb")
    under_test = system("mariadb?engine=Aria")
    under_test.start(Launch(guard, tmp_path, 1, 1000))
    try:
        with closing(under_test.analyst()) as analyst:
            analyst.create(FLIGHTS)
            (created,) = analyst.ask(f"SHOW CREATE TABLE {TABLE}")
            assert "ENGINE=Aria" in created[1]
        pid = under_test.server_pids()["mariadb"]
        under_test.restart()
        assert under_test.server_pids()["mariadb"] != pid
        assert under_test.death() is None
    finally:
        under_test.stop()
