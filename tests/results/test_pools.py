"""A buffer pool that is kept empty is said."""

from dataclasses import replace

import pytest

from dbdyno.results.facts import TrialFacts
from dbdyno.results.pools import warnings_of_pools

MIB = 2**20


def said(**settings):
    servers = [{"name": "mariadb", "effective_settings": {key: str(value) for key, value in settings.items()}}]
    return list(warnings_of_pools(replace(TrialFacts(), servers=servers)))


def test_a_pool_of_which_most_is_kept_free_is_said():
    assert said(innodb_buffer_pool_size=16 * MIB, innodb_lru_scan_depth=1536) == [
        "mariadb keeps 1,536 pages (24 MiB) of its buffer pool of 16 MiB free: set innodb_lru_scan_depth=100 to fill it"
    ]
    assert said(innodb_buffer_pool_size=16 * MIB, innodb_lru_scan_depth=100, innodb_page_size=65536)


@pytest.mark.parametrize(
    "settings",
    [
        {"innodb_buffer_pool_size": 128 * MIB, "innodb_lru_scan_depth": 1536},
        {"innodb_buffer_pool_size": 16 * MIB, "innodb_lru_scan_depth": 100},
        {"innodb_buffer_pool_size": 16 * MIB},
        {"maxmemory": 1},
    ],
)
def test_a_usual_pool_and_an_unknown_one_are_not(settings):
    assert said(**settings) == []


def test_a_server_without_settings_has_no_pool():
    assert list(warnings_of_pools(replace(TrialFacts(), servers=[{"name": "redis"}]))) == []
