"""The lock waited for most is named, with its counts; a lock not looked for differs from none."""

import json

import numpy as np
import pytest

from dbdyno.results.conclusions import Lock, Locks
from dbdyno.verdict.locks import locks_of, locks_seen

from .made import trial

LOOKED = {"locks.postgresql.locks": 0.0, "locks.postgresql.latches": 0.0}
MYSQL = {"locks.mysql.locks": 0.0}


def test_samples_without_a_name_are_samples_in_which_nobody_waited():
    sometimes = np.full(13, np.nan)
    sometimes[4:6] = 5.0
    made = trial(LOOKED | {"locks.postgresql.Lock:tuple": sometimes, "locks.postgresql.LWLock:WALWrite": 2.0})
    assert locks_of(made) == (
        Lock("postgresql", "LWLock:WALWrite", True, 2.0, None),
        Lock("postgresql", "Lock:tuple", False, pytest.approx(1.0), None),
    )


def test_what_is_counted_is_a_rate():
    columns = {"locks.mysql.latches_waits_total": 30.0, "locks.mysql.log0log.cc:844_waits_total": 20.0}
    columns |= {"locks.mysql.buf0buf.cc:1021_waits_total": 30.0, "locks.mysql.never_waits_total": 0.0}
    first, second = locks_of(trial(MYSQL | columns))
    assert (first.name, first.waits_per_s, first.latch) == ("buf0buf.cc:1021", pytest.approx(30), True)
    assert second.words == "log0log.cc:844: 20 waits/s"


def test_seconds_waited_in_a_second_are_how_many_wait():
    columns = {"locks.mysql.latches_wait_s_total": 1.5, "locks.mysql.mutex/innodb/log_wait_s_total": 1.5}
    (lock,) = locks_of(trial(MYSQL | columns))
    assert lock == Lock("mysql", "mutex/innodb/log", True, pytest.approx(1.5), None)
    assert lock.words == "mutex/innodb/log: 1.5 waiting on average"


COUNTED = {"store.mysql.innodb_row_lock_s_total": 3.0, "store.mysql.innodb_row_lock_waits_total": 700.0}


def test_row_locks_are_named_by_samples_and_measured_by_the_servers_count():
    named = {"locks.mysql.row lock, a (PRIMARY)": 0.2, "locks.mysql.row lock, b (PRIMARY)": 0.6}
    most, other = locks_of(trial(MYSQL | named | COUNTED))
    assert most.name == "row lock, b (PRIMARY)"
    assert (most.waiting, most.waits_per_s) == (pytest.approx(2.25), pytest.approx(525))
    assert (other.waiting, other.waits_per_s) == (pytest.approx(0.75), pytest.approx(175))


def test_row_locks_are_counted_in_those_samples_in_which_they_were_asked_for():
    asked, named = np.full(13, np.nan), np.full(13, np.nan)
    asked[[4, 8]], named[4] = (6.0, 0.0), 6.0
    (lock,) = locks_of(trial(MYSQL | {"locks.mysql.row locks": asked, "locks.mysql.row lock, a (PRIMARY)": named}))
    assert (lock.name, lock.waiting) == ("row lock, a (PRIMARY)", pytest.approx(3))


def test_waits_that_have_not_ended_are_not_counted_yet():
    (lock,) = locks_of(trial(MYSQL | {"locks.mysql.row lock, a (PRIMARY)": 5.0} | COUNTED))
    assert (lock.waiting, lock.waits_per_s) == (pytest.approx(5), pytest.approx(700))


def test_row_locks_that_no_sample_met_are_still_counted():
    (lock,) = locks_of(trial(MYSQL | COUNTED))
    assert lock.words == "row locks, tables not observed: 3 waiting on average, 700 waits/s"
    assert locks_of(trial(MYSQL | dict.fromkeys(COUNTED, 0.0))) == ()


def test_what_is_kept_of_them():
    seen = locks_seen(trial(LOOKED | {"locks.postgresql.Lock:tuple": 1.0}))
    assert seen.locks_seen and seen.latches_seen
    assert seen.waited_for[0].name == "Lock:tuple"
    assert Locks.read(json.loads(json.dumps(seen.document()))) == seen


def test_where_nobody_looked_nothing_is_claimed():
    nothing = Locks()
    assert locks_seen(trial()) == locks_seen(trial({"waits.redis.lock": 0.0})) == nothing
    assert locks_seen(trial(MYSQL)) == Locks(locks_seen=True)
    refused = [{"band": "waits.mysql.lock", "reason": "this user may not"}]
    assert locks_seen(trial(MYSQL, not_seen=refused)) == nothing
    unnamed = [{"band": "locks.mysql.row locks", "reason": "this user may not"}]
    assert locks_seen(trial(MYSQL, not_seen=unnamed)) == nothing
