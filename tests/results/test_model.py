"""The few figures that values of a run compute themselves."""

from dataclasses import replace
from pathlib import Path

from dbdyno.results.model import Interval, ObservedTrial, Trial
from dbdyno.results.observations import observations_of
from dbdyno.results.records import read_records

NOTHING = read_records(Path("does-not-exist"))


def trial(**about):
    return Trial("007-x-game-c1", "complete", None, about, NOTHING, (), ())


def test_a_trial_is_called_by_its_label_or_else_its_system_or_else_its_own_name():
    assert trial(system="s", label="l").label == "l"
    assert trial(system="s").label == "s"
    assert trial().label == "007-x-game-c1" and trial().system is None


def test_nothing_measured_has_no_throughput():
    assert (NOTHING.seconds, NOTHING.completed, NOTHING.throughput_per_s) == (0, 0, None)


def test_observations_are_read_once_and_when_asked_for(tmp_path):
    trial = Trial("001", "complete", None, {}, read_records(tmp_path / "records.jsonl"), (), (), folder=tmp_path)
    (tmp_path / "observations.jsonl").write_text('{"at_unix_s": 1, "host.memory_available_bytes": 5}\n')
    assert trial.observations.mean("host.memory_available_bytes", 0, 1) == 5
    assert trial.observations is trial.observations


def second(number, completed, seconds=1.0):
    return Interval(number, number == 0, seconds, 1, completed, 0, None, None, None, None, 0, {}, 0, 0, 0.0, {})


def test_the_window_and_the_evenness_leave_the_warm_up_out_and_a_second_cut_short():
    assert NOTHING.window_unix_s is None
    intervals = (second(0, 0), *(second(number, 100) for number in range(1, 11)), second(11, 3, 0.5))
    recorded = replace(NOTHING, intervals=intervals, run_began_unix_s=50.0)
    assert recorded.window_unix_s == (51.0, 61.5)
    assert len(recorded.whole_seconds) == recorded.stability.seconds == 10
    assert recorded.stability.floor == 1 and recorded.stability.longest_without_completion_s == 0


def test_a_window_spans_profiled_seconds_and_names_them():
    intervals = [second(number, 100) for number in range(6)]
    intervals[3] = intervals[3]._replace(profiled=True)
    recorded = replace(NOTHING, intervals=tuple(intervals), run_began_unix_s=50.0)
    assert recorded.window_unix_s == (51.0, 56.0) and recorded.seconds == 4
    assert recorded.left_out_unix_s == ((53.0, 54.0),)


def test_an_analysis_is_measured_while_its_queries_are_asked_hot():
    recorded = replace(NOTHING, hot_unix_s=((51.0, 54.0), (58.0, 61.0), (65.0, 66.0)), run_began_unix_s=50.0)
    assert recorded.window_unix_s == (51.0, 66.0)
    assert recorded.left_out_unix_s == ((54.0, 58.0), (61.0, 65.0))


def test_a_trial_may_have_observations_that_were_read_already():
    samples = observations_of([{"at_unix_s": 1, "x": 5}])
    made = ObservedTrial("001", "complete", None, {}, NOTHING, (), (), samples=samples)
    assert made.observations is samples


def test_observations_leave_profiled_seconds_out(tmp_path):
    profiled = replace(NOTHING, intervals=(second(0, 1)._replace(profiled=True),), run_began_unix_s=0.0)
    (tmp_path / "observations.jsonl").write_text('{"at_unix_s": 1, "x": 5}\n{"at_unix_s": 2, "x": 7}\n')
    trial = Trial("001", "complete", None, {}, profiled, (), (), folder=tmp_path)
    assert trial.observations.mean("x", 0, 2) == 7
