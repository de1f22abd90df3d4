"""A summary yields what reading the recordings yields, and is believed only while it is theirs."""

import json
import os

import numpy as np
import pytest

from dbdyno.report.document import json_document
from dbdyno.results import summary
from dbdyno.results.read import read_run
from dbdyno.results.summary import SUMMARY, is_summarized, read_summary
from synthetic_run import SYSTEMS, write_run


@pytest.fixture
def folder(tmp_path):
    systems, faults = SYSTEMS[3:], {("redis", 4): "outage", ("redis", 2): "killed"}
    return write_run(tmp_path / "run", systems, clients=(1, 2, 4), seconds=4, faults=faults, rates=(None, 3000))


def trials_of(folder):
    return sorted((folder / "trials").iterdir())


def forbid_reading(monkeypatch):
    def read_all(*_):
        raise AssertionError("the records were read")

    monkeypatch.setattr(summary, "read_all", read_all)


def test_it_says_the_same_as_the_recordings(folder, monkeypatch):
    first = json.dumps(json_document(read_run(folder)))
    trials = trials_of(folder)
    killed = [trial for trial in trials if not is_summarized(trial)]
    assert len(killed) == 2 and all("redis-game-c2" in trial.name for trial in killed)
    assert json.dumps(json_document(read_run(folder))) == first
    before = read_summary(trials[0], latencies=True)
    forbid_reading(monkeypatch)
    after = read_summary(trials[0], latencies=True)
    assert after.recorded.intervals == before.recorded.intervals and after.observed == before.observed
    slow = [[times.slowest for times in (of, *of.operations)] for of in (after.recorded, before.recorded)]
    assert slow[0] == slow[1] and all(slow[0])
    assert np.array_equal(after.latencies, before.latencies) and after.latencies.shape[0] == 3
    assert read_summary(trials[0]).latencies is None


def test_gaps_are_kept_and_so_is_that_there_were_none_recorded(folder, monkeypatch):
    without, of, *_ = trials_of(folder)
    records = of / "records.jsonl"
    kept = [json.loads(line) for line in records.read_text().splitlines()]
    gaps = {"gaps_ns": [[1_500_000_000, 212_000_000]]}
    more = [record | (gaps if record.get("second") == 1 else {}) for record in kept]
    records.write_text("".join(json.dumps(record) + "\n" for record in more))
    before = read_summary(of).recorded.stalls
    assert before.longest_ms == 212 and read_summary(without).recorded.stalls is None
    forbid_reading(monkeypatch)
    assert read_summary(of).recorded.stalls == before and read_summary(without).recorded.stalls is None


def test_it_keeps_when_queries_were_asked(folder, monkeypatch):
    of = trials_of(folder)[0]
    first, *others = (of / "records.jsonl").read_text().splitlines(keepends=True)
    query = json.dumps({"record": "query", "hot_unix_s": [1000.0, 1001.5]}) + "\n"
    (of / "records.jsonl").write_text("".join([first, query, *others]))
    assert read_summary(of).recorded.hot_unix_s == ((1000.0, 1001.5),)
    forbid_reading(monkeypatch)
    assert read_summary(of).recorded.hot_unix_s == ((1000.0, 1001.5),)


def test_recordings_that_changed_are_read_again(folder):
    trial = trials_of(folder)[0]
    assert read_summary(trial).recorded.completed == read_summary(trial).recorded.completed
    records = trial / "records.jsonl"
    kept = [line for line in records.read_text().splitlines() if '"second":4' not in line]
    records.write_text("\n".join(kept) + "\n")
    assert len(read_summary(trial).recorded.intervals) == 4


def test_it_is_of_one_kind_of_warm_up(folder):
    trial = trials_of(folder)[0]
    read_summary(trial)
    assert not read_summary(trial, auto_warmup=True).recorded.cut
    assert is_summarized(trial)


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 not a summary"])
def test_a_damaged_one_is_as_good_as_none(folder, damage):
    trial = trials_of(folder)[0]
    whole = read_summary(trial).recorded
    (trial / SUMMARY).write_bytes(damage)
    assert read_summary(trial).recorded.intervals == whole.intervals


def test_wherever_it_is_damaged_the_recordings_are_read(folder):
    trial = trials_of(folder)[0]
    whole = read_summary(trial).recorded
    good = (trial / SUMMARY).read_bytes()
    for at in range(0, len(good), max(1, len(good) // 300)):
        (trial / SUMMARY).write_bytes(good[:at] + bytes([good[at] ^ 0x55]) + good[at + 1 :])
        assert read_summary(trial).recorded.intervals == whole.intervals


def test_one_of_another_version_is_left_aside(folder, monkeypatch):
    trial = trials_of(folder)[0]
    read_summary(trial)
    monkeypatch.setattr(summary, "LAYOUT", summary.LAYOUT + 1)
    forbid_reading(monkeypatch)
    with pytest.raises(AssertionError, match="were read"):
        read_summary(trial)


def test_a_folder_that_cannot_be_written_to_is_read_all_the_same(folder, monkeypatch):
    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(os, "replace", refuse)
    trial = trials_of(folder)[0]
    assert read_summary(trial).recorded.completed
    assert not is_summarized(trial) and not list(trial.glob(".*"))


def test_what_was_observed_is_there_as_means(folder):
    observed = read_summary(trials_of(folder)[0]).observed
    assert observed["process.client.threads"] == 3 and 0 < observed["process.client.cpu_user_s_total"] < 1


def test_a_summary_is_of_the_seconds_that_figures_leave_out(folder):
    trial = trials_of(folder)[0]
    whole = read_summary(trial).recorded
    less = read_summary(trial, profiled=[2]).recorded
    assert less.completed == whole.completed - whole.intervals[2].completed
    again = read_summary(trial, profiled=[2]).recorded
    assert again.intervals == less.intervals and again.intervals[2].profiled
    assert read_summary(trial).recorded.completed == whole.completed
