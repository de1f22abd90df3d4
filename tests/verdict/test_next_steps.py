"""Each limit comes with a command that can be pasted, for the same load on the same system."""

import json
import shlex
from dataclasses import replace

import pytest

from dbdyno.verdict.budget import time_budget
from dbdyno.verdict.decision import limited
from dbdyno.verdict.limits import LIMITS
from dbdyno.verdict.next_steps import next_steps

from .made import process, queue, trial, waits


@pytest.fixture
def run(tmp_path):
    (tmp_path / "run.json").write_text(json.dumps({"command": "dbdyno run point-get --system mariadb --rows 100"}))
    return tmp_path / "trials" / "001"


def steps(folder, limit, columns=None, **about):
    made = trial(columns or waits(lock=16), **{"settings": {"a": "1"}, **about})
    placed = replace(made, folder=folder)
    object.__setattr__(placed, "observations", made.observations)
    decided = replace(limited(placed, time_budget(placed)), limit=limit)
    return [(step.why, step.command) for step in next_steps(placed, decided)]


AGAIN = "dbdyno run point-get --system 'mariadb?a=1' --rows 100 --clients 16"


def test_the_same_load_with_one_thing_changed(run):
    assert steps(run, "lock") == [
        (
            "see whether fewer clients reach as much",
            "dbdyno run point-get --system 'mariadb?a=1' --rows 100 --clients 4,16",
        )
    ]
    assert steps(run, "host-cpu") == [
        (
            "give client and server separate processors",
            f"{AGAIN} --set 'cpus={{client=[0], server=[1]}}'",
        )
    ]
    assert steps(run, "host-cpu", client_cpus=[0], server_cpus=[1]) == []
    assert steps(run, "neighbour") == [("see what else runs on this host, and stop it", "dbdyno doctor")]
    assert steps(run, "memory", memory_limit_bytes=64 << 20)[0][1] == f"{AGAIN} --set memory_limit=128M"


def test_groups_of_clients_keep_the_numbers_of_the_file(run):
    groups = [{"name": "readers", "number": 2, "rate": None, "think_time": None, "start_s": 0}]
    assert steps(run, "lock", client_groups=groups) == steps(run, "network", client_groups=groups) == []
    ((_, profile), _) = steps(run, "server-cpu", client_groups=groups)
    assert profile == "dbdyno run point-get --system 'mariadb?a=1' --rows 100 --profile"


def test_the_setting_that_should_move_it(run):
    levers = {"checkpoint": "innodb_log_file_size=1G"}
    (why, command), _ = steps(run, "checkpoint", levers=levers)
    assert why == "compare with innodb_log_file_size=1G"
    assert shlex.split(command)[-4:] == ["--system", "mariadb?a=1&innodb_log_file_size=1G", "--repeat", "3"]
    ((why, _),) = steps(run, "checkpoint", levers=levers, settings={"innodb_log_file_size": "4M"})
    assert why == "change only this and see whether throughput follows"


def test_an_idle_program_at_the_port_of_a_server_may_be_a_relay(run):
    there = {"label": "mysql://root@127.0.0.1:3307/bench", "attached": True}
    looking = (
        "see which program answers there; if it is a proxy, attach to the server behind it",
        "ss -tlnp 'sport = :3307'",
    )
    idle = queue() | process("mariadb", cpu=0.05)
    assert steps(run, "unexplained", idle, **there)[0] == looking
    assert looking not in steps(run, "unexplained", queue() | process("mariadb", cpu=0.9), **there)
    assert looking not in steps(run, "unexplained", process("mariadb", cpu=0.05), **there)
    assert looking not in steps(run, "unexplained", idle, label="mysql://127.0.0.1:3307/bench")
    assert looking not in steps(run, "unexplained", idle, label="mysql://db.example/bench", attached=True)


def test_what_can_be_reduced_can_be_confirmed(run):
    assert steps(run, "disk")[-1] == (
        "remove a fifth of it and see whether throughput follows",
        f"{AGAIN} --confirm-limit",
    )
    assert not any("--confirm-limit" in command for _, command in steps(run, "disk", attached=True))


@pytest.mark.parametrize("limit", LIMITS)
def test_every_command_can_be_parsed(run, limit):
    for why, command in steps(run, limit):
        assert why and shlex.split(command)[0] == "dbdyno"


def test_without_its_run_there_is_nothing_to_repeat(tmp_path):
    assert steps(tmp_path / "trials" / "001", "lock") == []
    assert steps(None, "lock") == []


def test_what_can_be_changed_alone_can_be_confirmed_too(run):
    change = ("change only this and see whether throughput follows", f"{AGAIN} --confirm-limit")
    levers = {"checkpoint": "innodb_log_file_size=1G"}
    assert steps(run, "checkpoint", levers=levers)[-1] == change
    assert steps(run, "memory", memory_limit_bytes=64 << 20)[-1] == change
    assert steps(run, "network", network_delay_us=200)[-1] == change
    assert change not in steps(run, "network")
    assert change not in steps(run, "checkpoint")
    assert change not in steps(run, "checkpoint", levers=levers, attached=True)
