"""Usage is that of the measured time, and is read back as it was stated."""

from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from dbdyno.errors import UserError
from dbdyno.results.facts import TrialFacts
from dbdyno.results.model import Usage
from dbdyno.results.records import read_records
from dbdyno.results.samples import Observations
from dbdyno.results.usage import stated_usage, usage_of
from synthetic_run import SYSTEMS, write_run

PATH = Path("trial.json")


def observed(name="redis", until=10):
    at = np.arange(10.0)
    seen = at < until
    values = {"cpu_user_s_total": 0.4 * at, "cpu_system_s_total": 0.1 * at, "resident_bytes": 100 + at}
    values |= {"private_bytes": 50 + at}
    return Observations(at, {f"process.{name}.{key}": np.where(seen, value, np.nan) for key, value in values.items()})


def test_it_was_measured_after_the_warm_up(tmp_path):
    folder = write_run(tmp_path / "run", (SYSTEMS[0],), (1,), seconds=3)
    recorded = read_records(next(folder.glob("trials/*/records.jsonl")))
    begin, end = recorded.window_unix_s
    assert (begin - recorded.run_began_unix_s, end - begin) == (1.0, 3.0)
    assert read_records(tmp_path / "none").window_unix_s is None


def test_processor_time_is_that_of_the_window():
    (used,) = usage_of(observed(), (2.3, 7.9))
    assert used == Usage("redis", pytest.approx(0.5), 109, 59)


def test_a_server_seen_for_too_little_of_the_window_has_no_figure():
    assert usage_of(observed(until=3), (0, 10))[0] == Usage("redis", None, 102, 52)
    assert usage_of(observed(), None)[0].cores is None


def test_a_name_may_hold_a_dot():
    assert usage_of(observed("a.b"), (0, 9))[0].process == "a.b"


def test_what_was_not_observed_is_not_known():
    assert usage_of(None, (0, 1)) == ()


def test_what_is_stated_is_read_back():
    used = Usage("redis", 0.5, 109, 59), Usage("client", None, 7)
    assert stated_usage(TrialFacts(usage=[asdict(process_usage) for process_usage in used]), PATH) == used
    assert stated_usage(TrialFacts(), PATH) == ()
    earlier = {"process": "redis", "cores": 0.5, "resident_bytes": 109}
    assert stated_usage(TrialFacts(usage=[earlier]), PATH)[0].private_bytes is None


@pytest.mark.parametrize("usage", [[{"process": "redis"}], ["redis"]])
def test_what_cannot_be_is_named(usage):
    with pytest.raises(UserError, match=r"trial\.json"):
        stated_usage(TrialFacts(usage=usage), PATH)
