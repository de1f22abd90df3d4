"""The figures of go-ycsb and mutilate are read as they mean them, and nothing else is taken for them."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

from dbdyno.errors import RunFailed

ROOT = Path(__file__).parent.parent
GO_YCSB = """Using request distribution 'zipfian' a keyrange of [0 9999]
READ   - Takes(s): 10.0, Count: 90, OPS: 9.0, Avg(us): 100, Min(us): 50, Max(us): 900, 99th(us): 1000
Run finished, takes 1m0.5s
READ   - Takes(s): 60.4, Count: 160, OPS: 2.6, Avg(us): 100, Min(us): 50, Max(us): 900, 99th(us): 1000
READ_MODIFY_WRITE - Takes(s): 60.4, Count: 40, OPS: 0.7, Avg(us): 300, Min(us): 90, Max(us): 900, 99th(us): 1000
UPDATE - Takes(s): 60.4, Count: 40, OPS: 0.7, Avg(us): 100, Min(us): 50, Max(us): 900, 99th(us): 1000
"""
MUTILATE = """#type       avg     std     min     5th    10th    90th    95th    99th
read      140.2    61.0    33.1    84.1    96.0   180.7   214.5   301.7
update    141.0    62.1    36.2    85.0    97.1   181.0   215.0   305.0
op_q        1.0     0.0     1.0     1.0     1.0     1.1     1.1     1.1

Total QPS = 112000.0 (560000 / 5.0s)

Misses = 0 (0.0%)
"""


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Import the bench."""
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("benches.published")


def outcome(published: ModuleType, said: str) -> object:
    return published.Outcome(0, said, 1.5, 0.5, 61.0)


def test_a_read_modify_write_counts_once_and_writes(published: ModuleType) -> None:
    sample = published.go_ycsb_sample(outcome(published, GO_YCSB), 160)
    assert (sample.operations, sample.seconds, sample.cpu_us) == (160, 60.5, 12_500)
    assert sample.details == {"read_share": 0.75}


@pytest.mark.parametrize("said", ["panic", GO_YCSB.replace("UPDATE -", "UPDATE_ERROR -")])
def test_an_operation_of_go_ycsb_that_failed_is_no_figure(published: ModuleType, said: str) -> None:
    with pytest.raises(RunFailed, match="go-ycsb said"):
        published.go_ycsb_sample(outcome(published, said), 160)


def test_the_gets_of_mutilate_have_their_times(published: ModuleType) -> None:
    sample = published.mutilate_sample(outcome(published, MUTILATE))
    assert (sample.operations, sample.seconds) == (560_000, 5.0)
    assert sample.details == {"mean_us": 140.2, "p99_us": 301.7}


@pytest.mark.parametrize("said", ["", MUTILATE.replace("Misses = 0", "Misses = 7")])
def test_a_get_of_mutilate_that_missed_is_no_figure(published: ModuleType, said: str) -> None:
    with pytest.raises(RunFailed, match="mutilate said"):
        published.mutilate_sample(outcome(published, said))


def test_what_is_not_on_the_path_is_said(published: ModuleType) -> None:
    with pytest.raises(published.UserError, match="no-such-program is not on the path"):
        published.need("no-such-program")
