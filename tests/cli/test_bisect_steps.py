"""Steps are kept, and not measured again; one that could not be measured is tried again."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from dbdyno.cli import bisect_steps, until_decided
from dbdyno.cli.bisect_steps import Kept, Measuring, Step, measured
from dbdyno.errors import RunFailed, UserError
from dbdyno.report.ci.decisions import Decided
from dbdyno.stats.sequential import MOST_PAIRS, Decision

STEP = Step((0, 8), "bad", Decision(4, 0.95, 0.94, 0.96, "bad"), "runs/one", None)


def test_a_step_is_read_back_and_not_measured_again(tmp_path):
    file = tmp_path / "new" / "bisect.json"
    Kept(file, {"builds": ["a", "b"]}, 60).keep(STEP)
    kept = Kept(file, {"builds": ["a", "b"]}, 60)
    assert kept.find((0, 8)) == STEP and kept.find((0, 4)) is None
    assert measured((0, 8), kept, lambda: pytest.fail("measured")) == STEP


def test_the_steps_of_another_search_are_refused(tmp_path):
    file = tmp_path / "bisect.json"
    Kept(file, {"builds": ["a", "b"]}, 60).keep(STEP)
    with pytest.raises(UserError, match="belongs to another search; remove it"):
        Kept(file, {"builds": ["a", "c"]}, 60)
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="choose another folder with --state"):
        Kept(tmp_path / "file" / "bisect.json", {}, 60)


def test_a_build_that_does_not_start_is_inconclusive_and_tried_again(tmp_path):
    kept = Kept(tmp_path / "bisect.json", {}, 60)

    def fail():
        raise RunFailed("it does not start")

    measurement = measured((0, 3), kept, fail)
    assert (measurement.outcome, measurement.reason, kept.find((0, 3))) == ("inconclusive", "it does not start", None)
    with pytest.raises(UserError, match="no answer: it does not start"):
        measured((0, 3), kept, fail, must_work=True)


def test_an_inconclusive_step_is_measured_again_if_it_may_take_longer(tmp_path):
    file, places = tmp_path / "bisect.json", (0, 4)
    undecided = Step(places, "inconclusive", Decision(4, 0.97, 0.9, 1.05, None), "runs/one", "undecided after 4 pairs")
    Kept(file, {}, 60).keep(undecided)
    Kept(file, {}, 60).keep(STEP)
    assert Kept(file, {}, 60).find(places) == Kept(file, {}, 30).find(places) == undecided
    assert Kept(file, {}, 61).find(places) is None and Kept(file, {}, 61).find(STEP.places) == STEP


def test_an_inconclusive_step_that_had_all_pairs_is_not_measured_again(tmp_path):
    file, places = tmp_path / "bisect.json", (0, 4)
    undecided = Step(places, "inconclusive", Decision(MOST_PAIRS, 0.97, 0.9, 1.05, None), "runs/one", "undecided")
    Kept(file, {}, 60).keep(undecided)
    assert Kept(file, {}, 120).find(places) == undecided and undecided.needs_longer_trials


@pytest.mark.parametrize(("half_width", "is_undecided"), [(1.03, True), (1.01, False)])
def test_the_whole_effect_gets_pairs_until_it_is_known(monkeypatch, half_width, is_undecided):
    decision = Decision(9, 0.96, 0.96 / half_width, 0.96 * half_width, "slower")
    slower = Decided("game", SimpleNamespace(), decision, "slower", None, None, ([1.0] * 9, [0.96] * 9))
    run, asked = SimpleNamespace(path=Path()), []

    def run_experiment(*_, rule):
        asked.append(rule.is_undecided(Path()))
        return SimpleNamespace(state="complete", folder=Path())

    monkeypatch.setattr(bisect_steps, "run_experiment", run_experiment)
    for module in (bisect_steps, until_decided):
        monkeypatch.setattr(module, "read_run", lambda _: run)
    for name, answer in (("paired", None), ("known_noise", 0.0), ("decisions", [slower])):
        monkeypatch.setattr(bisect_steps, name, lambda *_, answer=answer: answer)
    outcome = Measuring("game", 0.02, 6, 60.0, Path(), True, None, {}).measure(("redis", "valkey"), None)
    assert asked == [is_undecided] and outcome.outcome == "slower"
