"""One sentence has the limit, the figures that speak for it, the runner-up and how sure it is."""

from dataclasses import replace

import numpy as np
import pytest

from dbdyno.results.confirmation import Confirmation, Followed
from dbdyno.verdict.budget import time_budget
from dbdyno.verdict.decision import limited
from dbdyno.verdict.sentence import sentence_of

from .made import IDLE_HOST, host, trial, waits


def sentence(made):
    return sentence_of(made, limited(made, time_budget(made)))


def test_a_band_with_its_sign_and_its_runner_up():
    made = trial(waits(disk=12, cpu=2, client=2) | host(IDLE_HOST) | {"pressure.io_some_s_total": 0.6})
    assert sentence(made) == (
        "Limited by the disk (confidence high): 12.0 of 16.0 operations in flight (75%) were waiting for the disk; "
        "something waited for the disk 60% of the time (pressure); next: the server's CPU (12%)."
    )


def test_the_lock_is_named_where_locks_limit():
    named = {"locks.mariadb.locks": 12.0, "locks.mariadb.row lock, t (PRIMARY)": 12.0}
    said = "were waiting for a lock; most waits: row lock, t (PRIMARY): 12 waiting on average; "
    assert said in sentence(trial(waits(lock=12, cpu=4) | named))
    assert "most waits" not in sentence(trial(waits(disk=12, cpu=4) | named))


def test_a_rate():
    assert sentence(trial(offered=1000)).startswith(
        "Not limited: it kept up with the requested rate (confidence high): "
        "1,000/s completed of 1,000/s offered; next: "
    )


def test_a_rate_that_was_not_followed_stands_before_what_limited_the_store():
    said = sentence(trial(waits(lock=4) | host(IDLE_HOST), offered=2000))
    assert "(confidence high): it could not follow: 1,000/s completed of 2,000/s offered; " in said
    assert "were waiting for a lock" in said


def test_stalls_stand_in_it():
    stalled = np.where(np.isin(np.arange(11), (3, 4, 8)), 0, 1000)
    said = "3 of 10 s were below a tenth of the median; longest stall 2 s"
    assert said in sentence(trial(waits(disk=15, cpu=1), completed=stalled))


@pytest.mark.parametrize(
    ("tried", "said"),
    [
        (
            Confirmation("disk", 0.2, Followed("40 of 50 writes/s", 1000.0, 820.0, followed=0.9)),
            "; with 20% of it removed (40 of 50 writes/s), throughput changed by -18%",
        ),
        (
            Confirmation("disk", 0.2, Followed("less", 1000.0, 500.0, followed=2.5)),
            "throughput changed by -50%, so something else slowed it too",
        ),
        (
            Confirmation("disk", 0.2, None, why_not="no control group can be made here"),
            "; not confirmed: no control group can be made here",
        ),
    ],
)
def test_what_came_of_taking_some_of_it_away(tried, said):
    made = trial(waits(disk=12, cpu=2, client=2))
    confirmed = replace(made, confirmation=tried)
    object.__setattr__(confirmed, "observations", made.observations)
    assert said in sentence(confirmed)
    assert said not in sentence(made)
