"""The five transactions of tpcc on real stores: the conditions hold after them, and one that is violated is named."""

import sqlite3
from contextlib import closing

import pytest

from systems.load import execute

KINDS = {"new_order", "payment", "order_status", "delivery", "stock_level"}
ALL = ["prepare", "load", "run", "verify", "cleanup"]


def conditions(outcome):
    return [check for check in outcome.of("check") if check["name"].startswith("condition 3.3.2.")]


@pytest.mark.parametrize("text", ["mariadb", "postgresql", "sqlite"])
def test_every_condition_holds_after_loading_and_after_transactions_of_every_kind(text, started):
    outcome = execute(started(text), "tpcc", ALL, rows=1, clients={"first": 0, "count": 4, "of": 4}, duration_s=3)
    assert (outcome.status, outcome.of("error"), outcome.of("mismatch")) == (0, [], [])
    (total,) = outcome.of("total")
    assert all(total["operations"][kind]["completed"] for kind in KINDS)
    found = conditions(outcome)
    assert len(found) == 24
    assert all(check["ok"] for check in found)


def test_a_violated_condition_names_the_rows(started):
    one = started("sqlite")
    execute(one, "tpcc", ["prepare", "load"], rows=1)
    with closing(sqlite3.connect(one.store_plan([])["path"])) as database, database:
        database.execute("UPDATE dbdyno_district SET d_ytd = d_ytd + 1 WHERE d_id = 7")
    found = conditions(execute(one, "tpcc", ["verify"], rows=1))
    wrong = {check["name"].split(":")[0]: check["note"] for check in found if not check["ok"]}
    assert wrong == {"condition 3.3.2.1": "1, -1", "condition 3.3.2.9": "1, 7, 1"}
