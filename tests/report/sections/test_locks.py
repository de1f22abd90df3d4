"""The table of the locks waited for: where it is shown, and what its cells say."""

from dbdyno.report.sections.locks import HEADINGS, rows, shown_trials
from dbdyno.results.conclusions import Lock, Locks


def lock(name, latch, waiting=None, waits_per_s=None):
    return Lock("s", name, latch, waiting, waits_per_s)


def trial(*waited_for, workload="game", locks_seen=True, latches_seen=False):
    seen = Locks(locks_seen, latches_seen, waited_for)
    return {
        "label": "mariadb",
        "clients": 16,
        "pipeline": 1,
        "workload": workload,
        "throughput_per_s": 1234.5,
        "locks": seen,
    }


ROW = lock("row lock, t (PRIMARY)", False, 3.25, 700.0)
LATCH = lock("log0log.cc:844", True, None, 312.0)


def test_a_trial_has_a_row_for_the_first_of_each_kind():
    locked = trial(ROW, LATCH, lock("buf0buf.cc:1021", True, None, 5.0), latches_seen=True)
    first, second = rows([locked])
    assert first == ["mariadb", "16", "1,234", "lock", "3.25", "700", "row lock, t (PRIMARY)"]
    assert second == ["mariadb", "", "", "latch", "–", "312", "log0log.cc:844"]
    assert len(first) == len(HEADINGS)


def test_none_is_not_the_same_as_not_shown():
    def said(locks):
        return [row[-1] for row in rows([locks])]

    assert said(trial()) == ["none seen", "not shown"]
    assert said(trial(locks_seen=False, latches_seen=True)) == ["not shown", "none seen"]


def test_several_workloads_are_named():
    first, _, other, _ = rows([trial(), trial(workload="db-stress?rw=0")])
    assert (first[0], other[0]) == ("mariadb, game", "mariadb, db-stress?rw=0")


def test_it_is_shown_where_a_lock_is_worth_naming_and_always_under_stress():
    few = trial(lock("row lock, t (PRIMARY)", False, 0.5, 9.0))
    assert shown_trials({"trials": [few]}) == []
    assert shown_trials({"trials": [few, trial(ROW)]}) == [few, trial(ROW)]
    stressed = trial(workload="db-stress?rw=0")
    assert shown_trials({"trials": [stressed]}) == [stressed]
    assert shown_trials({"trials": [trial(workload="db-stress", locks_seen=False)]}) == []
