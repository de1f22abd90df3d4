"""linkbench, taobench and smallbank on real stores: the published mix is issued, and what must hold after it holds."""

import sqlite3
from contextlib import closing
from math import sqrt

import pytest

from systems.load import execute

LINKBENCH = {
    **{"getlinklist": 50.7119145, "getnode": 12.9326683, "addlink": 8.9886601, "updatelink": 8.0122125},
    **{"updatenode": 7.366437, "countlink": 4.8863567, "deletelink": 2.9907664, "addnode": 2.5732789},
    **{"deletenode": 1.0115914, "getlink": 0.5261142},
}
"""Shares in percent (docs/experiments/linkbench.md)."""
TAOBENCH_A = {"read": 171, "write": 57, "read_transaction": 15, "write_transaction": 1}
"""Parts of 244 (docs/experiments/taobench.md)."""
SMALLBANK = dict.fromkeys(("balance", "deposit_checking", "transact_savings", "amalgamate", "write_check"), 20)
PAYMENTS = {**dict.fromkeys(SMALLBANK, 15), "send_payment": 25}
"""Shares in percent (docs/experiments/smallbank.md)."""
SHAPES = {
    "linkbench": (LINKBENCH, {}),
    "taobench": (TAOBENCH_A, {}),
    "taobench-o": ({"read": 8387, "write": 19, "read_transaction": 242, "write_transaction": 1}, {"mix": "o"}),
    "smallbank": (SMALLBANK, {}),
    "smallbank-payments": (PAYMENTS, {"mix": "payments"}),
}
ALL = ["prepare", "load", "run", "verify", "cleanup"]
ROWS = 1000
FOUR = {"clients": {"first": 0, "count": 4, "of": 4}}


def name_of(shape):
    return shape.partition("-")[0]


def violated(outcome):
    return {check["name"]: check["note"] for check in outcome.of("check") if check["ok"] is False}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("text", ["mariadb", "postgresql", "sqlite"])
def test_the_published_mix_is_issued_and_every_check_holds_after_it(shape, text, started):
    weights, options = SHAPES[shape]
    # At a fixed rate conflicts cannot change the mix: what is tried again is not another kind.
    segment = {"seconds": 2, "from_per_s": 400, "to_per_s": 400}
    outcome = execute(
        *(started(text), name_of(shape), ALL),
        **{"rows": ROWS, "options": options, "duration_s": 2, **FOUR},
        arrivals={"kind": "constant", "segments": [segment]},
    )
    assert (outcome.status, outcome.of("error"), outcome.of("mismatch")) == (0, [], [])
    (total,) = outcome.of("total")
    completed = {kind: total["operations"][kind]["completed"] for kind in weights}
    issued, parts = sum(completed.values()), sum(weights.values())
    assert issued == total["transactions"]["completed"] > 100
    for kind, weight in weights.items():
        share = weight / parts
        allowed = 4 * sqrt(issued * share * (1 - share)) + 1
        assert abs(completed[kind] - issued * share) <= allowed, (kind, completed)
    checks = outcome.of("check")
    assert checks and all(check["ok"] for check in checks)
    assert total["reads_verified"] > 0


@pytest.mark.parametrize("text", ["mariadb", "postgresql", "sqlite"])
@pytest.mark.parametrize("shape", ["linkbench", "smallbank-payments"])
def test_transactions_that_meet_are_tried_again_and_nothing_is_lost(shape, text, started):
    _, options = SHAPES[shape]
    clients = {"first": 0, "count": 16, "of": 16}
    outcome = execute(started(text), name_of(shape), ALL, rows=40, options=options, duration_s=2, clients=clients)
    assert (outcome.of("error"), outcome.of("mismatch"), violated(outcome), outcome.status) == ([], [], {}, 0)
    assert sum(check["ok"] is True for check in outcome.of("check")) >= 2


DAMAGES = [
    (
        "linkbench",
        "UPDATE dbdyno_link SET visibility = 0 WHERE rowid = (SELECT MIN(rowid) FROM dbdyno_link)",
        "nodes whose number of links is not that of their visible links",
    ),
    (
        "linkbench",
        "DELETE FROM dbdyno_linkcount WHERE rowid = (SELECT MIN(rowid) FROM dbdyno_linkcount)",
        "nodes whose number of links is not that of their visible links",
    ),
    ("taobench", "DELETE FROM dbdyno_edges WHERE id1 = 7", "loaded objects without their one edge"),
    ("smallbank", "DELETE FROM dbdyno_savings WHERE custid = 7", "rows of savings"),
]


@pytest.mark.parametrize(("workload", "damage", "what"), DAMAGES)
def test_what_is_damaged_is_named(workload, damage, what, started):
    store = started("sqlite")
    execute(store, workload, ["prepare", "load"], rows=ROWS)
    with closing(sqlite3.connect(store.store_plan([])["path"])) as database, database:
        assert database.execute(damage).rowcount == 1
    assert what in violated(execute(store, workload, ["verify"], rows=ROWS))


def test_money_that_no_transaction_paid_in_is_noticed(started):
    store = started("sqlite")
    execute(store, "smallbank", ["prepare", "load"], rows=ROWS)
    with closing(sqlite3.connect(store.store_plan([])["path"])) as database, database:
        # Each change of a checking account pays in a cent more.
        database.execute(
            "CREATE TRIGGER dbdyno_thief AFTER UPDATE ON dbdyno_checking "
            "BEGIN UPDATE dbdyno_checking SET balance = balance + 1 WHERE custid = NEW.custid; END"
        )
    outcome = execute(store, "smallbank", ["run", "verify"], rows=ROWS)
    assert list(violated(outcome)) == ["growth of the sum of savings.balance and checking.balance"]
