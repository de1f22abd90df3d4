"""Panels show what was recorded: rates of what is counted, in units a reader knows, and no second averaged away."""

import numpy as np
import pytest

from dbdyno.report.core.panels import LEAST_POINTS, MOST_POINTS, panels, points_of_a_trial
from dbdyno.results.samples import Observations

MIB = 1 << 20


def by_name(columns, seconds=4, points=MOST_POINTS):
    columns = {name: np.array(values, float) for name, values in columns.items()}
    charts = panels(Observations(1000.0 + np.arange(seconds), columns), 1000.0, points)
    return {panel["name"]: panel for panel in charts["panels"]}


def test_processor_time_of_host_and_processes_is_one_panel_in_cores():
    columns = {
        "host.cpu_user_s_total": [0, 1, 2, 3],
        "host.cpu_system_s_total": [0, 0.5, 1, 2],
        "process.client.cpu_user_s_total": [0, 0.25, 0.5, 0.75],
        "process.client.cpu_system_s_total": [0, 0, 0, 0],
    }
    panel = by_name(columns)["CPU used"]
    assert (panel["unit"], panel["default"], panel["group"]) == ("cores", True, "Processes")
    assert panel["lines"] == [["host", [None, 1.5, 1.5, 2]], ["client", 0.25]]


@pytest.mark.parametrize(("ended_s", "points"), [(3.1, 4), (3.6, 5), (4.0, 5)])
def test_a_sample_at_the_end_soon_after_the_last_is_left_out(ended_s, points):
    seconds = np.array([0.0, 1.0, 2.0, 3.0, ended_s])
    charts = panels(Observations(1000.0 + seconds, {"store.a.writes_total": 5 * seconds**2}), 1000.0)
    assert charts["times"] == [*seconds[:points]] and len(charts["panels"][0]["lines"][0][1]) == points


def test_units_are_those_a_reader_knows():
    columns = {
        "process.a.resident_bytes": [MIB, 2 * MIB, 3 * MIB, 4 * MIB],
        "disk.vda.busy_s_total": [0, 0.5, 0.75, 1],
        "disk.vda.write_bytes_total": [0, MIB, 3 * MIB, 3 * MIB],
        "store.a.dirty_pages": [5, 5, 5, 6],
        "store.a.memory_bytes": [MIB, MIB, MIB, 2 * MIB],
    }
    panels = by_name(columns)
    assert panels["memory"]["unit"] == "MiB" and panels["memory"]["lines"] == [["a", [1, 2, 3, 4]]]
    assert panels["disk busy"]["unit"] == "%" and panels["disk busy"]["lines"] == [["vda", [None, 50, 25, 25]]]
    assert panels["write"]["unit"] == "MiB/s" and panels["write"]["lines"][0][1] == [None, 1, 2, 0]
    assert not panels["memory as the store counts it"]["default"]
    assert panels["dirty pages"]["default"] and not panels["write"]["default"]


def test_a_checkpoints_age_stands_against_its_limit():
    ages = {
        "store.a.x_checkpoint_age_bytes": [0, MIB, 2 * MIB, MIB],
        "store.a.x_checkpoint_max_age_bytes": [4 * MIB] * 4,
    }
    panel = by_name(ages)["x checkpoint age"]
    assert panel["default"] and dict(panel["lines"]) == {"a": [0, 1, 2, 1], "a: limit": 4}


def test_states_of_connections_are_one_panel():
    panel = by_name({"waits.a.cpu_wait": [1, 2, 1, 1], "waits.a.lock": [0, 0, 0, 3]})["connections of a by state"]
    assert [subject for subject, _ in panel["lines"]] == ["cpu wait", "lock"]


def test_what_never_happened_can_be_chosen_but_is_not_shown_by_itself():
    panel = by_name({"store.a.evicted_keys_total": [7, 7, 7, 7]})["evicted keys"]
    assert panel["lines"] == [["a", 0]] and not panel["default"]
    assert by_name({"store.a.evicted_keys_total": [7, 7, 7, 9]})["evicted keys"]["default"]


def test_of_a_long_trial_the_lowest_and_highest_of_each_stretch_are_kept():
    values = np.full(3600, 50.0)
    values[1234], values[2345] = 1, 99
    charts = panels(Observations(1000.0 + np.arange(3600), {"store.a.running": values}), 1000.0, 100)
    (_, line), times = charts["panels"][0]["lines"][0], charts["times"]
    assert len(line) == len(times) == 100 and times == sorted(times)
    assert min(line) == 1 and max(line) == 99 and abs(times[line.index(1)] - 1234) < 100


@pytest.mark.parametrize(("trials", "points"), [(1, MOST_POINTS), (20, 200), (1000, LEAST_POINTS)])
def test_many_trials_have_fewer_points_each(trials, points):
    assert points_of_a_trial(trials) == points


def test_what_was_not_seen_is_no_panel():
    observations = Observations(np.array([1000.0, 1001.0]), {"store.a.running": np.array([np.nan, np.nan])})
    assert panels(observations, 1000.0)["panels"] == [] and panels(observations, 1002.0) is None
