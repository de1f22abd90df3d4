"""A trial that runs is read on, second by second."""

import json

import pytest

from dbdyno.results.observations import close_observations
from dbdyno.serve.trial import FollowedTrial


@pytest.fixture
def trial(running):
    (folder,) = running.glob("trials/*")
    return FollowedTrial(folder)


def without_the_half_line(trial):
    file = trial.folder / "records.jsonl"
    lines = file.read_text().splitlines()[:-1]
    file.write_text("\n".join(lines) + "\n")
    return json.loads(lines[-1])


def test_what_is_appended_is_read_on(trial):
    last = without_the_half_line(trial)
    trial.look()
    assert [interval.second for interval in trial.intervals] == [0, 1, 2, 3, 4, 5] and trial.intervals[-1].p99_ns
    wrong = {"record": "error", "kind": "connection", "message": "refused"}
    with (trial.folder / "records.jsonl").open("a") as file:
        file.write(json.dumps(last | {"second": 6, "errors": {"connection": 2}}) + "\n" + json.dumps(wrong) + "\n")
    trial.look()
    assert [interval.second for interval in trial.intervals] == [0, 1, 2, 3, 4, 5, 6]
    assert trial.errors == ["refused"]


def test_a_half_written_line_is_left_for_later(trial):
    trial.look()
    assert [interval.second for interval in trial.intervals] == [0, 1, 2, 3, 4, 5]


def test_it_says_where_the_operations_are_and_what_was_observed(trial):
    trial.look()
    budget, observed = trial.budget(), trial.observed()
    assert {len(values) for values in budget.per_second.values()} == {6}
    assert sum(budget.bands.values()) == pytest.approx(4, abs=0.01)
    assert "CPU used" in {panel["name"] for panel in observed["panels"]}


def test_observations_stay_when_their_lines_became_a_table(trial):
    trial.look()
    before = trial.observed()
    close_observations(trial.folder)
    trial.look()
    assert trial.observed() == before == _looked(FollowedTrial(trial.folder)).observed()


def _looked(trial):
    trial.look()
    return trial


def test_before_the_first_second_nothing_is_known(trial):
    (trial.folder / "records.jsonl").write_text("")
    trial.look()
    assert (list(trial.intervals), trial.budget(), trial.observed(), trial.errors) == ([], None, None, [])
    assert trial.facts.clients == 4
