"""The marker of a table on somebody else's server; real servers are in tests/conduct/kinds/test_analysis.py."""

import json

from dbdyno.systems.attached_analyst import MARKER, marker_of


def test_a_marker_begins_as_every_marker_of_dbdynos_and_says_what_was_made():
    marker = marker_of("2026-air-traffic", "air-traffic", 2000)
    assert marker.startswith(MARKER)
    made = json.loads(marker.removeprefix("dbdyno:"))
    assert made == {"run_id": "2026-air-traffic", "workload": {"name": "air-traffic", "rows": 2000}}
