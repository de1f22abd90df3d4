"""A store held against what should have the same rows."""

import numpy as np
import pytest

from dbdyno.conduct.agreement import compare, hold_against, judge_agreement, missing_of, read_alone
from dbdyno.errors import RunFailed
from dbdyno.systems.witness import Promise, nothing_of


def versions(*of_keys):
    return {"debit": np.array([-1, *of_keys], np.int64)}


class Witness:
    name, unable, outlives = "replica", None, True

    def __init__(self, has, promised=True):
        self.has, self.promise = has, Promise(promised, "sync=1")

    def alone(self, tables):
        return self.has

    def versions(self, tables):
        if self.has is None:
            raise RunFailed("it is gone")
        return self.has, None


def test_writes_that_only_one_has_are_counted_and_their_rows_named():
    differences = compare(versions(3, 5, 0, -1), versions(3, 2, 1, 4))
    assert (differences["store_only"], differences["other_only"], differences["rows"]) == (3, 6, 3)
    assert differences["first"][0] == {"table": "debit", "key": 2, "store": 5, "other": 2}
    assert differences["first"][2] == {"table": "debit", "key": 4, "store": None, "other": 4}
    assert compare(versions(1), versions(1))["rows"] == 0


def test_acknowledged_pairs_that_are_not_there_are_counted(tmp_path):
    ledger = tmp_path / "acknowledged.bin"
    np.array([[4, 100], [1, 101], [0, 0]], "<i8").tofile(ledger)
    pair = {"debit": np.array([-1, 4, 1, 0]), "credit": np.array([-1, 2, -1, 0])}
    assert missing_of(ledger, pair) == 2 + 1
    assert read_alone([Witness(pair)], {}, ledger) == {"replica": 3}


@pytest.mark.parametrize(
    ("promised", "has", "verdict", "said"),
    [
        (True, versions(3, 5), "kept", "the replica holds the same rows; promised by sync=1"),
        (False, versions(3, 5), "nothing promised", "the same rows; not promised by sync=1"),
        (True, versions(3, 4), "broken", "BROKE its promise: the replica lacks 1 writes that the store has and has 0"),
        (False, versions(3, 7), "nothing promised", "debit 2 (version 5 in the store, version 7 there)"),
        (True, nothing_of({"debit": 2}), "broken", "lacks 10 writes that the store has"),
        (True, None, "nothing promised", "the replica was not compared: it is gone"),
    ],
)
def test_only_a_promise_can_be_broken(promised, has, verdict, said):
    agreement = hold_against(Witness(has, promised), versions(3, 5), {"debit": 2}, {})
    judged, sentence = judge_agreement(agreement)
    assert judged == verdict
    assert said in sentence


def test_what_it_lacked_alone_and_what_was_odd_is_said():
    agreement = hold_against(Witness(versions(1)), versions(1), {"debit": 1}, {"replica": 12})
    _, sentence = judge_agreement(agreement | {"odd": "it was refused"})
    assert sentence.endswith("alone, before the store came back, it lacked 12 acknowledged writes; it was refused")
