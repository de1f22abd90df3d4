"""A stall is detected in the seconds of the load client, stacks are recorded while it lasts, and no figure has them."""

import json
import threading
from math import inf

import pytest
import redis

from dbdyno.conduct import on_stall
from dbdyno.conduct import profile as profiling
from dbdyno.conduct.listener import Listener
from dbdyno.conduct.on_stall import StallWatch
from dbdyno.conduct.run import conduct
from dbdyno.experiment.model import Experiment
from dbdyno.experiment.read import NamedExperiment
from dbdyno.report.flame_graph import draw_profiles
from dbdyno.results.read import read_run
from dbdyno.systems.base import Launch
from helpers import need, need_stacks, system
from results.test_records import interval

PAUSED_FROM, PAUSED_S = 6, 4


def reasons(*completed, **keys):
    """Return what a watch says to each second; `completed`: the transactions of each."""
    watch = StallWatch()
    return [watch.reason(interval(second, count, **keys)) for second, count in enumerate(completed)]


def test_two_seconds_below_half_of_the_median_are_a_stall():
    said = reasons(100, 100, 100, 100, 100, 49, 49)
    assert said == [*[None] * 6, "throughput fell to 49/s for 2 s, from a median of 100/s"]


@pytest.mark.parametrize(
    "completed",
    [
        (100, 100, 100, 100, 100, 100, 10, 100),
        (100, 100, 100, 100, 100, 50, 50),
        (100, 100, 100, 100, 10, 10),
    ],
    ids=["one slow second", "half is not below half", "too few before"],
)
def test_less_is_no_stall(completed):
    assert set(reasons(*completed)) == {None}


def test_the_warm_up_and_a_last_second_cut_short_are_not_compared():
    assert set(reasons(*[100] * 5, 1, 1, warmup=True)) == {None}
    watch = StallWatch()
    assert not any([watch.reason(interval(second, 100)) for second in range(5)])
    assert not any([watch.reason(interval(second, 1, seconds=0.2)) for second in (5, 6)])


def test_two_seconds_with_a_p99_of_five_times_its_median_are_a_stall():
    def second(number, value_ns):
        record = interval(number, 2000)
        exponent = value_ns.bit_length() - 8
        times = {"count": 2000, "sum_ns": 2000 * value_ns, "min_ns": value_ns, "max_ns": value_ns}
        record["transactions"]["service_time"] = times | {"buckets": [128 * exponent + (value_ns >> exponent), 2000]}
        return record

    watch = StallWatch()
    times_ns = [*[1 << 20] * 5, 1 << 23, 1 << 20, 1 << 23, 1 << 23]
    said = [watch.reason(second(number, value_ns)) for number, value_ns in enumerate(times_ns)]
    assert said == [*[None] * 8, "p99 rose to 8.39 ms for 2 s, from a median of 1.05 ms"]


class Pausing(Listener):
    """Pauses a Redis for some seconds of its trial: a stall whose begin is known."""

    def __init__(self, endpoint):
        self._client = redis.Redis(endpoint.host, endpoint.port, password=endpoint.password)

    def record_came(self, record):
        if record["record"] == "interval" and record["second"] == PAUSED_FROM:
            pause = threading.Thread(target=self._client.client_pause, args=(1000 * PAUSED_S,))
            pause.start()


def stalling(guard, folder, monkeypatch, seconds=16):
    """Run a load on a Redis that pauses, with `profile = "on-stall"`; returns the run."""
    need("redis")
    monkeypatch.setattr(profiling, "WINDOW_S", 1)
    # A busy host may delay some answers at any time.
    monkeypatch.setattr(on_stall, "P99_TIMES", inf)
    server = system("redis")
    server.start(Launch(guard, folder, 4, 100))
    try:
        url = f"redis://:{server.endpoint.password}@127.0.0.1:{server.endpoint.port}/0"
        keys = {"workload": "point-get", "rows": 100, "clients": 4, "warmup_seconds": 0, "ceiling": False}
        keys |= {"profile": "on-stall", "host": False, "seconds": seconds, "system": url}
        experiment = Experiment.model_validate(keys)
        end = conduct(NamedExperiment("stall", experiment), "a test", folder, Pausing(server.endpoint))
    finally:
        server.stop()
    assert end.state == "complete", end.reason
    draw_profiles(end.folder)
    return read_run(end.folder)


def test_stacks_are_of_the_stall_and_no_figure_has_their_seconds(guard, tmp_path, monkeypatch):
    need_stacks()
    run = stalling(guard, tmp_path, monkeypatch)
    (trial,) = run.trials
    profile = json.loads((trial.folder / "profile" / "profile.json").read_text())
    assert profile["when"] == "on-stall" and profile["reason"].startswith("throughput fell to 0/s for 2 s")
    assert not profile["not_seen"] and "client-off-cpu" in profile["stacks"]
    assert (trial.folder / "profile" / "client-off-cpu.svg").exists()
    left_out = trial.facts.profiled_seconds
    # Both seconds that show the stall come before it is recorded.
    assert min(left_out) >= PAUSED_FROM + 2 and list(left_out) == sorted(left_out)
    recorded = trial.recorded
    assert [interval.second for interval in recorded.intervals if interval.profiled] == list(left_out)
    measured = [interval for interval in recorded.intervals if interval.second not in left_out]
    assert recorded.completed == sum(interval.completed for interval in measured) == recorded.service_time.count
    assert recorded.seconds == pytest.approx(sum(interval.seconds for interval in measured))
    (warning,) = [warning for warning in trial.warnings if "in no figure" in warning]
    assert f"{len(left_out)} s from second {left_out[0]} on are in no figure: stacks were recorded, as" in warning
    assert not any("measured for" in warning for warning in trial.warnings)


def test_without_a_stall_there_are_no_stacks_and_every_second_counts(guard, tmp_path, monkeypatch):
    (trial,) = stalling(guard, tmp_path, monkeypatch, seconds=8).trials
    profile = json.loads((trial.folder / "profile" / "profile.json").read_text())
    assert profile["reason"] is None and profile["stacks"] == {}
    assert not trial.facts.profiled_seconds and trial.recorded.seconds > 7.9
