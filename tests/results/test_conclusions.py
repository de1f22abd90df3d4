"""`verdict.json` is written and read as one thing; what an older file lacks was not concluded, nonsense is refused."""

import json

import pytest

from dbdyno.errors import UserError
from dbdyno.results.conclusions import VERDICT_FORMAT, Budget, Conclusions, Lock, Locks, NextStep, Verdict
from dbdyno.results.read import read_trial
from synthetic_run import SYSTEMS, write_run

LOCK = Lock("mysql", "row lock, t (PRIMARY)", latch=False, waiting=3.25, waits_per_s=None)
ALL = Conclusions(
    client_limited="its load threads were 99% busy",
    others_cores=0.5,
    verdict=Verdict("lock", "Locks.", ("15 of 16",), "disk", "high", (NextStep("see", "dbdyno doctor"),)),
    time_budget=Budget(16.0, {"lock": 15.0}, {"lock": [14.0, 16.0]}, ("disk",)),
    locks=Locks(True, False, (LOCK,)),
)


@pytest.mark.parametrize("concluded", [ALL, Conclusions()])
def test_what_is_written_is_read_back(concluded):
    document = concluded.document()
    assert document["format"] == VERDICT_FORMAT
    assert Conclusions.read(json.loads(json.dumps(document))) == concluded


def test_a_lock_says_what_was_seen_of_it():
    assert LOCK.words == "row lock, t (PRIMARY): 3.2 waiting on average"


@pytest.fixture
def folder(tmp_path):
    (folder,) = write_run(tmp_path / "run", SYSTEMS[2:3], (4,)).glob("trials/*")
    return folder


def test_what_a_file_lacks_was_not_concluded(folder):
    (folder / "verdict.json").write_text(json.dumps({"format": VERDICT_FORMAT}))
    assert read_trial(folder).judged == Conclusions()


@pytest.mark.parametrize(
    "stated",
    [
        {"verdict": {"limit": "disk"}},
        {"verdict": "disk"},
        {"others_cores": "many"},
        {"time_budget": {"in_flight": 1, "bands": [], "per_second": {}}},
        {"locks": {"waited_for": [{"name": "a"}]}},
    ],
)
def test_nonsense_is_refused_with_the_name_of_its_file(folder, stated):
    (folder / "verdict.json").write_text(json.dumps({"format": VERDICT_FORMAT, **stated}))
    with pytest.raises(UserError, match=r"verdict\.json: cannot be understood"):
        read_trial(folder)
