"""The five transactions of tpcc on real stores: the conditions hold after them, and one that is violated is named."""

import sqlite3
from contextlib import closing

import pytest

from systems.load import execute

KINDS = {"new_order", "payment", "order_status", "delivery", "stock_level"}
ALL = ["prepare", "load", "run", "verify", "cleanup"]

# A change of a loaded row, and the conditions that then name rows. Conditions 1 and 8 cannot be
# violated alone, as each follows from the other and 9, nor can 3, as an order and its new order go together.
DAMAGES = [
    ("UPDATE dbdyno_warehouse SET w_ytd = w_ytd + 1", {1: {"1, 1"}, 8: {"1, 1"}}),
    ("UPDATE dbdyno_district SET d_next_o_id = 3002 WHERE d_id = 2", {2: {"1, 2, 3002"}}),
    (
        "DELETE FROM dbdyno_new_order WHERE no_d_id = 3 AND no_o_id = 2500",
        {3: {"1, 3, 2101, 3000, 899"}, 5: {"1, 3, 2500, NULL"}, 11: {"1, 3, 1"}},
    ),
    (
        "INSERT INTO dbdyno_order_line SELECT ol_w_id, ol_d_id, 3001, ol_number, ol_i_id, ol_supply_w_id, "
        "ol_delivery_d, ol_quantity, ol_amount, ol_dist_info FROM dbdyno_order_line "
        "WHERE ol_d_id = 4 AND ol_o_id = 3000 AND ol_number = 1",
        {4: {"1, 4, -1"}},
    ),
    (
        "UPDATE dbdyno_orders SET o_ol_cnt = o_ol_cnt + CASE o_id WHEN 7 THEN 1 ELSE -1 END "
        "WHERE o_d_id = 6 AND o_id IN (7, 8)",
        {6: {"1, 6, 7, 13", "1, 6, 8, 10"}},
    ),
    (
        "UPDATE dbdyno_order_line SET ol_delivery_d = NULL WHERE ol_d_id = 7 AND ol_o_id = 10 AND ol_number = 2",
        {7: {"1, 7, 10, 2"}},
    ),
    ("UPDATE dbdyno_history SET h_d_id = 9 WHERE h_d_id = 8 AND h_c_id = 1", {9: {"1, 8, 1000", "1, 9, -1000"}}),
    (
        "UPDATE dbdyno_history SET h_c_id = 6 WHERE h_c_d_id = 10 AND h_c_id = 5",
        {10: {"1, 10, 5, -1000", "1, 10, 6, 1000"}},
    ),
    ("UPDATE dbdyno_customer SET c_delivery_cnt = 1 WHERE c_d_id = 1 AND c_id = 1", {11: {"1, 1, -1"}}),
    ("UPDATE dbdyno_customer SET c_ytd_payment = 1001 WHERE c_d_id = 5 AND c_id = 12", {12: {"1, 5, 12, 1"}}),
]


def conditions(outcome):
    return [check for check in outcome.of("check") if check["name"].startswith("condition 3.3.2.")]


@pytest.mark.parametrize("text", ["mariadb", "postgresql", "sqlite"])
def test_every_condition_holds_after_loading_and_after_transactions_of_every_kind(text, started):
    outcome = execute(started(text), "tpcc", ALL, rows=1, clients={"first": 0, "count": 4, "of": 4}, duration_s=3)
    assert (outcome.status, outcome.of("error"), outcome.of("mismatch")) == (0, [], [])
    (total,) = outcome.of("total")
    assert all(total["operations"][kind]["completed"] for kind in KINDS)
    checks = conditions(outcome)
    assert len(checks) == 24
    assert all(check["ok"] for check in checks)


def test_every_condition_names_the_rows_that_violate_it_and_no_others(started):
    store = started("sqlite")
    execute(store, "tpcc", ["prepare", "load"], rows=1)
    expected = {}
    with closing(sqlite3.connect(store.store_plan([])["path"])) as database, database:
        for damage, violated in DAMAGES:
            database.execute(damage)
            for condition, rows in violated.items():
                expected.setdefault(condition, set()).update(rows)
    checks = conditions(execute(store, "tpcc", ["verify"], rows=1))
    named = {int(check["name"].split(":")[0].split(".")[-1]): set(check["note"].split("; ")) for check in checks}
    assert sorted(named) == list(range(1, 13))
    assert named == expected
