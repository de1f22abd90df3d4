"""Ranges of versions."""

import pytest

from dbdyno.errors import UserError
from dbdyno.systems.packages.versions import in_range


def test_a_range_is_every_version_of_the_catalogue_between_both():
    assert in_range("mysql@5.5..8.0") == ["mysql@5.5", "mysql@5.6", "mysql@5.7", "mysql@8.0"]
    assert in_range("mysql@5.6..5.7?innodb_buffer_pool_size=64M") == [
        "mysql@5.6?innodb_buffer_pool_size=64M",
        "mysql@5.7?innodb_buffer_pool_size=64M",
    ]
    assert in_range("mysql@5.6..5.6") == ["mysql@5.6"]


@pytest.mark.parametrize(
    "text", ["mysql@5.6", "mysql", "mysql://u@h/d?socket=/a..b", "cache-aside(memcached, mariadb)"]
)
def test_anything_else_is_itself(text):
    assert in_range(text) == [text]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mysql@5.5..9.9", r"can install no mysql@9\.9; its versions are 5\.5, 5\.6, 5\.7, 8\.0"),
        ("redis@6..7", "can install no redis@6; its versions are none"),
        ("mysql@8.0..5.5", r"8\.0 comes after 5\.5; write mysql@5\.5\.\.8\.0"),
    ],
)
def test_what_the_catalogue_lacks_is_named(text, said):
    with pytest.raises(UserError, match=said):
        in_range(text)
