"""The table of what stores had after they were killed."""

from dbdyno.report.sections.crashes import (
    AGREEMENT_HEADINGS,
    HEADINGS,
    agreement_rows,
    crashed,
    rows,
    sentence,
    sentences,
    unread,
)


def trial(**crash):
    outcome = {"kind": "kill", "writes": "transaction", "acknowledged": 2000, "missing": 40, "lost_back_s": 0.5}
    outcome |= {
        "lost_back_is_least": False,
        "half_applied": 0,
        "unacknowledged": 3,
        "ready_s": 1.5,
        "first_read_s": 1.6,
    }
    outcome |= {"verdict": "kept", "sentence": "kept its promise"}
    return {"label": "store", "pipeline": 1, "durability": "D1", "crash": outcome | crash}


def test_a_trial_has_a_row_and_a_sentence():
    (row,) = rows([trial()])
    assert len(row) == len(HEADINGS)
    assert row == ["store", "D1", "kill", "2,000", "40", "0.5", "0", "3", "1.50", "1.60", "kept"]
    assert sentences([trial()]) == ["store, kill: kept its promise."]


def test_what_is_not_known_or_was_not_promised_is_shown_as_that():
    (row,) = rows([trial(lost_back_is_least=True, writes="apart", ready_s=None, verdict="broken")])
    assert (row[5], row[6], row[8], row[10]) == ("≥ 0.5", "(0)", "–", "BROKEN")


def test_only_trials_with_a_crash_are_shown():
    there = trial()
    assert crashed([there, {"crash": None}, {}]) == [there]


def test_what_it_is_held_against_has_a_row_and_a_sentence():
    held = {"name": "binary log", "unable": None, "store_only": 0, "other_only": 1200, "rows": 800}
    held |= {"alone_missing": None, "verdict": "broken", "sentence": "BROKE it"}
    unread = {"name": "replica", "unable": "it is gone", "verdict": "nothing promised", "sentence": "not compared"}
    killed = trial(agreement=[held, unread])
    first, other = agreement_rows([trial(), killed])
    assert len(first) == len(AGREEMENT_HEADINGS)
    assert first == ["store", "D1", "kill", "binary log", "0", "1,200", "800", "–", "BROKEN"]
    assert other[4:] == ["–", "–", "–", "–", "not compared"]
    assert sentences([killed])[1:] == ["store, kill: BROKE it.", "store, kill: not compared."]


def test_the_page_begins_with_whose_promise_was_broken():
    bare = {"verdict": "nothing promised"}
    assert sentence([trial(), trial(**bare), trial(**bare, missing=0)]) == (
        "1 crash with a promise: kept in each; up to 95.0% of such crashes may still break one (95% confidence). "
        "2 crashes without a promise: acknowledged writes lost in 1."
    )
    gone = {"label": "redis", "pipeline": 1, "workload": "durability?crash=power-cut", "state": "failed", "crash": None}
    assert unread([gone, gone | {"state": "interrupted"}, gone | {"workload": "game"}]) == [gone]
    assert sentence([trial()], [gone]).endswith(" 1 crash left NOTHING to read: redis.")
    log = {"name": "binary log", "unable": None, "verdict": "broken"}
    assert "BROKEN in 1: store (kill)." in sentence([trial(), trial(agreement=[log])])


def test_a_store_that_had_to_be_repaired_is_named():
    repaired = trial(repaired={"command": "redis-check-aof --fix", "reason": "Bad file format"})
    said = "1 store started only after a repair: store (redis-check-aof --fix)."
    assert sentence([trial(repaired=None), repaired]).endswith(said) and said not in sentence([trial()])
