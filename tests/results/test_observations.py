"""Observations are read back from lines or from the table, with what was not seen as such."""

import json

import numpy as np
import pytest

from dbdyno.errors import UserError
from dbdyno.results.observations import close_observations, read_observations
from dbdyno.results.samples import Observations

NAN = np.nan


def observed(at, **columns):
    return Observations(np.array(at, float), {name: np.array(values, float) for name, values in columns.items()})


@pytest.fixture
def write(tmp_path):
    def write(*samples, rest=""):
        lines = "".join(json.dumps(sample) + "\n" for sample in samples)
        (tmp_path / "observations.jsonl").write_text(lines + rest)
        return tmp_path

    return write


def test_lines_are_read_up_to_one_that_a_kill_cut_short(write):
    folder = write({"at_unix_s": 1.0, "host.a_total": 5}, {"at_unix_s": 2.0, "host.b": None}, rest='{"at_unix_s": 3')
    read = read_observations(folder)
    assert read.at_unix_s.tolist() == [1.0, 2.0]
    assert read.names("host.") == ("host.a_total", "host.b")
    np.testing.assert_array_equal(read.columns["host.a_total"], [5.0, NAN])
    np.testing.assert_array_equal(read.columns["host.b"], [NAN, NAN])


def test_the_table_holds_what_the_lines_held_and_takes_their_place(write):
    folder = write({"at_unix_s": 1.25, "store.x.reads_total": 1 << 52}, {"at_unix_s": 2.25, "waits.x.cpu": 0.1})
    before, closed = read_observations(folder), close_observations(folder)
    assert [path.name for path in folder.iterdir()] == ["observations.parquet"]
    for read in (closed, read_observations(folder)):
        np.testing.assert_array_equal(read.at_unix_s, before.at_unix_s)
        assert read.names() == before.names()
        for name in before.names():
            np.testing.assert_array_equal(read.columns[name], before.columns[name])


def test_where_nothing_was_observed_there_is_nothing(tmp_path):
    assert read_observations(tmp_path) is None
    assert close_observations(tmp_path) is None


def test_a_trial_that_ended_before_its_first_sample_has_none(write):
    folder = write()
    assert close_observations(folder).names() == ()
    assert len(read_observations(folder).at_unix_s) == 0


@pytest.mark.parametrize(
    "sample",
    [
        {"host.a": 1},
        {"at_unix_s": 1, "host.a": "much"},
        {"at_unix_s": 1, "host.a": True},
        {"at_unix_s": 1, "host.a": np.inf},
        {"at_unix_s": 1, "host.a": 10**400},
        {"at_unix_s": -np.inf},
    ],
)
def test_a_line_that_is_no_sample_is_named(write, sample):
    with pytest.raises(UserError, match="line 2"):
        read_observations(write({"at_unix_s": 0.0}, sample))
