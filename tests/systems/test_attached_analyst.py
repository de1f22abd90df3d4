"""The marker of a table on somebody else's server; real servers are in tests/conduct/kinds/test_analysis.py."""

import json
from contextlib import closing

import pytest

from dbdyno.analytics.columns import FLIGHTS
from dbdyno.conduct.clean import clean
from dbdyno.systems.attached_analyst import MARKER, marker_of
from helpers import running, system


def test_a_marker_begins_as_every_marker_of_dbdynos_and_says_what_was_made():
    marker = marker_of("2026-air-traffic", "air-traffic", 2000)
    assert marker.startswith(MARKER)
    made = json.loads(marker.removeprefix("dbdyno:"))
    assert made == {"run_id": "2026-air-traffic", "workload": {"name": "air-traffic", "rows": 2000}}


@pytest.mark.parametrize(("name", "scheme"), [("mariadb", "mysql"), ("postgresql", "postgresql")])
def test_what_a_killed_run_left_is_cleaned(tmp_path, name, scheme):
    with running(name, tmp_path) as server:
        endpoint = server.endpoint
        login = f"{endpoint.user}:{endpoint.password}@127.0.0.1:{endpoint.port}"
        attached = system(f"{scheme}://{login}/{endpoint.database}")
        with closing(attached.analyst()) as owner:
            owner.create_marked(FLIGHTS, marker_of("killed", "air-traffic", 2000))
            assert clean(attached.spec).removed == [FLIGHTS.name]
            assert owner.comment(FLIGHTS) is None
