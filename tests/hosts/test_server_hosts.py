"""Servers on server hosts restart, keep their data and show their stacks as on one host, in network namespaces."""

import json
import os
import signal

import pytest

from dbdyno.results.profile import read_profile
from dbdyno.results.read import read_trial
from helpers import need, need_stacks, wait_until
from hosts.namespaces import need_namespaces
from hosts.stage import Stage

pytestmark = [pytest.mark.systems, pytest.mark.timeout(600)]


@pytest.fixture
def stage(tmp_path):
    need_namespaces()
    with Stage(tmp_path, ["c1", "c2"], ["s1"]) as stage:
        yield stage


def preparations(stage) -> list[dict]:
    paths = sorted(stage.folder.glob("runs/*/preparations/*/preparation.json"))
    return [json.loads(path.read_text()) for path in paths]


def seconds(stage) -> int:
    """Return how many seconds a client host has told of so far."""
    return sum(
        path.read_text().count('"interval"') for path in stage.folder.glob("runs/*/trials/*/hosts/c1/live.jsonl")
    )


@pytest.mark.parametrize("system", ["mariadb", "redis", "postgresql"])
def test_a_server_restarts_on_a_copy_of_its_data(stage, system):
    need(system)
    stage.run("game", "--clients", "4", "--seconds", "1", "--rows", "2000", "--set", "restart=cold", "--system", system)
    trials = [read_trial(folder) for folder in stage.trials()]
    assert [trial.state for trial in trials] == ["complete"]
    about = trials[0].about
    assert (about["restart"], about["data"], about["cache_state"]) == ("cold", "restored", "cold")
    assert about["data_bytes"] > 0 and about["server_counters"][system]["after"]
    assert wait_until(stage.is_clean)


def test_repetitions_begin_with_data_that_was_loaded_once(stage):
    need("mariadb")
    stage.run("game", "--clients", "4", "--seconds", "1", "--repeat", "3", "--system", "mariadb")
    first, *others = preparations(stage)
    # If loading was faster than copying, which a slow disk may be the reason for, that is said.
    if "not_restored" in first:
        assert all("load_seconds" in prepared for prepared in others)
    else:
        assert [prepared["loaded_in"] for prepared in others] == [first["preparation"]] * 2
        assert not any("load_seconds" in prepared for prepared in others)
    assert [read_trial(folder).state for folder in stage.trials()] == ["complete"] * 3
    assert wait_until(stage.is_clean)


@pytest.mark.parametrize("how", ["killed", "interrupted"])
def test_kept_data_goes_with_a_run_that_is_ended(stage, how):
    need("redis")
    options = ["--clients", "4", "--seconds", "600", "--rows", "2000", "--set", "restart=lukewarm"]
    running = stage.start("game", *options, "--system", "redis")
    stage.wait_for(lambda: seconds(stage) > 0)
    # The kept data, the copy that the server runs on, and what else a run makes.
    assert len(stage.left_on("s1")) > 2
    if how == "killed":
        running.kill()
    else:
        running.send_signal(signal.SIGINT)
    running.communicate()
    stage.wait_for(stage.is_clean)


def test_stacks_are_recorded_on_the_server_host(stage):
    need("redis")
    need_stacks()
    stage.run("point-get", "--clients", "4", "--seconds", "2", "--profile", "--system", "redis")
    (folder,) = stage.trials()
    profile = read_profile(folder / "profile")
    assert profile["not_seen"] == [] and profile["transactions_per_s"] > 0
    assert set(profile["stacks"]) == {"server-on-cpu", "server-off-cpu"} and set(profile["counters"]) == {"server"}
    lines = (folder / "profile" / "server-on-cpu.folded").read_text().splitlines()
    assert profile["stacks"]["server-on-cpu"]["samples"] > 0 and any(line.startswith("redis") for line in lines)
    assert (folder / "profile" / "server-on-cpu.svg").exists()
    began = read_trial(folder).recorded.run_began_unix_s
    assert began < profile["begun_unix_s"]
    assert wait_until(stage.is_clean)


def test_a_stall_is_recorded_on_the_server_host(stage):
    need("redis")
    need_stacks()
    options = ["--warmup", "0", "--seconds", "20", "--profile", "on-stall", "--system", "redis"]
    running = stage.start("point-get", "--clients", "4", *options)
    stage.wait_for(lambda: seconds(stage) > 7)
    (folder,) = stage.trials()
    (pid,) = json.loads((folder / "trial.json").read_text())["server_pids"].values()
    os.kill(pid, signal.SIGSTOP)
    try:
        stage.wait_for(lambda: any("perf record" in command for command in stage.running_on("s1")))
    finally:
        os.kill(pid, signal.SIGCONT)
    said = running.communicate()[0].decode()
    assert running.returncode == 0, said
    profile = read_profile(folder / "profile")
    assert profile["when"] == "on-stall" and profile["reason"] and not profile["not_seen"]
    assert set(profile["stacks"]) == {"server-on-cpu", "server-off-cpu"}
    assert read_trial(folder).facts.profiled_seconds
    assert wait_until(stage.is_clean)
