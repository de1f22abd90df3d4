"""The client in the label of a trial."""

import pytest

from dbdyno.results.clients import without_client


@pytest.mark.parametrize(
    ("label", "client", "system"),
    [
        ("redis via redis-py", "redis-py", "redis"),
        ("postgresql via psycopg?library=/a/libpq.so", "psycopg?library=/a/libpq.so", "postgresql"),
        ("redis via mine", "./mine", "redis"),
        ("redis via b/mine", "b/mine", "redis"),
        ("redis", "native", None),
        ("mariadb", "sysbench", None),
        ("redis via other", "./mine", None),
    ],
)
def test_a_label_ends_in_its_client(label, client, system):
    assert without_client(label, client) == system
