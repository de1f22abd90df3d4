"""Old row versions limit if transactions pass more and more of them."""

import numpy as np
import pytest

from dbdyno.verdict import old_versions
from dbdyno.verdict.evidence import Measured

from .made import IDLE_HOST, SECONDS, host, trial

RISING = np.linspace(0, 1, SECONDS + 2)


def signs(columns, **about):
    return list(old_versions.old_versions(Measured.of(trial(host(IDLE_HOST) | columns, **about))))


def postgresql(pages, versions):
    counted = {"page_hits_total": pages, "page_reads_total": 0.0 * RISING, "dead_rows": versions}
    return {f"store.mariadb.{name}": value for name, value in counted.items()}


def test_more_and_more_pages_while_versions_pile_up():
    (said,) = signs(postgresql(4000 + 36_000 * RISING, 200_000 * RISING))
    assert said.startswith("3")
    assert "pages of mariadb for a transaction at the end" in said
    assert "while its old row versions grew from " in said


@pytest.mark.parametrize(
    ("pages", "versions"),
    [
        (4000 + 0 * RISING, 200_000 * RISING),
        (4000 + 36_000 * RISING, 150_000 + 0 * RISING),
        (4000 + 36_000 * RISING, 9000 * RISING),
    ],
    ids=["as many pages", "as many versions", "few versions"],
)
def test_one_of_both_alone_is_no_sign(pages, versions):
    assert not signs(postgresql(pages, versions))


def test_a_trial_that_does_more_looks_at_more_pages():
    faster = np.linspace(100, 1000, SECONDS).astype(int)
    columns = host(IDLE_HOST) | postgresql(4000 + 36_000 * RISING, 200_000 * RISING)
    assert not list(old_versions.old_versions(Measured.of(trial(columns, completed=faster))))


def test_pages_that_are_read_from_a_disk_alone_are_no_sign():
    reads = {"store.mariadb.innodb_page_reads_total": 100 + 4000 * RISING}
    assert not signs(reads | {"store.mariadb.innodb_history_list_length": 200_000 * RISING})
