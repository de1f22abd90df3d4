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
    ((_, fewer),) = steps(run, "host-cpu", client_cpus=[0], server_cpus=[1])
    assert fewer.endswith("--clients 4,16")
    assert steps(run, "neighbour") == [("see what else runs on this host, and stop it", "dbdyno doctor")]
    assert steps(run, "memory", memory_limit_bytes=64 << 20)[0][1] == f"{AGAIN} --set memory_limit=128M"


def test_groups_of_clients_keep_the_numbers_of_the_file(run):
    groups = [{"name": "readers", "number": 2, "rate": None, "think_time": None, "start_s": 0}]
    profile = "dbdyno run point-get --system 'mariadb?a=1' --rows 100 --profile"
    for limit in ("lock", "network", "server-cpu"):
        (_, command), *_ = steps(run, limit, client_groups=groups)
        assert command == profile


def test_the_setting_that_should_move_it(run):
    levers = {"checkpoint": "innodb_log_file_size=1G"}
    _, (why, command), _ = steps(run, "checkpoint", levers=levers)
    assert why == "compare with innodb_log_file_size=1G"
    assert shlex.split(command)[-4:] == ["--system", "mariadb?a=1&innodb_log_file_size=1G", "--repeat", "3"]
    assert command == steps(run, "checkpoint", levers=levers, settings={"a": "1"})[1][1]


@pytest.mark.parametrize(
    ("given", "lever", "is_compared"),
    [
        ("4M", "1G", True),
        ("1073741824", "1G", False),
        ("2G", "1G", False),
        ("0ms", "20ms", True),
        ("always", "everysec", True),
        ("everysec", "everysec", False),
    ],
)
def test_a_setting_that_was_given_is_replaced_if_another_value_moves_more(run, given, lever, is_compared):
    compared = steps(run, "commit", levers={"commit": f"x={lever}"}, settings={"x": given, "a": "1"})
    commands = [shlex.split(command) for why, command in compared if why == f"compare with x={lever}"]
    assert [command[command.index("--repeat") - 1] for command in commands] == [f"mariadb?x={lever}&a=1"] * is_compared


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


def test_an_unknown_limit_says_what_would_show_the_waits(run):
    hidden = [
        {"band": "waits.mariadb.lock", "reason": "this user may not see transactions: GRANT PROCESS ON *.*"},
        {"band": "store.mariadb.page_writers", "reason": "it is there since version 16"},
    ]
    repeated = (
        "repeat it with the server's waits observed: this user may not see transactions: GRANT PROCESS ON *.*",
        AGAIN,
    )
    assert repeated in steps(run, "unexplained", not_seen=hidden)
    assert not any("repeat it" in why for why, _ in steps(run, "unexplained", not_seen=hidden[1:]))


def test_what_can_be_reduced_can_be_confirmed(run):
    assert steps(run, "disk")[-1] == (
        "remove a fifth of it and see whether throughput follows",
        f"{AGAIN} --confirm-limit",
    )
    assert not any("--confirm-limit" in command for _, command in steps(run, "disk", attached=True))


def test_with_several_hosts_the_advice_is_for_these(run):
    hosts = [{"name": "c1", "clients": {"count": 16}, "network": None}, {"name": "s1", "role": "server"}]
    assert not any("--confirm-limit" in command for _, command in steps(run, "disk", hosts=hosts))
    assert ("on s1, see what else runs there, and stop it", "dbdyno doctor") in steps(run, "neighbour", hosts=hosts)


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("about", [{}, {"attached": True}, {"clients": 1}])
def test_every_limit_has_a_next_experiment(run, limit, about):
    # A rate is a limit only if it was offered.
    next_ones = steps(run, limit, **about, offered=500 if limit == "rate" else None)
    assert next_ones
    for why, command in next_ones:
        assert why and shlex.split(command)[0] == "dbdyno"


@pytest.mark.parametrize(
    ("limit", "why", "option"),
    [
        ("compaction", "see whether it keeps up with 80% of that rate", "--rate 800"),
        ("old-versions", "see whether a longer trial slows down further", "--seconds 40"),
        ("commit", "see whether more clients share a flush", "--clients 16,64"),
        ("disk", "see whether a quarter of the rows, which caches may hold, is faster", "--rows 25"),
        ("memory", "see whether a quarter of the rows, which caches may hold, is faster", "--rows 25"),
    ],
)
def test_a_limit_of_the_stores_own_work_has_an_experiment(run, limit, why, option):
    said, command = steps(run, limit, rows=100, seconds=10)[0]
    assert said == why and command.endswith(option)
    assert command.startswith("dbdyno run point-get --system 'mariadb?a=1' ")


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


KINDS = {
    "analysis": {"cold": "anew", "queries": []},
    "copy": {"tool": "sql", "workers": 1},
    "crash": {"verdict": "kept"},
}
OF_CLIENTS = {"--profile", "--confirm-limit", "--rate", "--clients", "--seconds"}
REFUSED = {"analysis": OF_CLIENTS | {"--repeat"}, "copy": OF_CLIENTS, "crash": OF_CLIENTS - {"--clients", "--seconds"}}


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("kind", KINDS)
def test_only_what_its_kind_can_do_is_proposed(run, kind, limit):
    about = {"levers": {limit: "pool=1G"}, "rows": 100, "seconds": 5, "clients": 1, "offered": 100}
    commands = [shlex.split(command) for _, command in steps(run, limit, **about, **{kind: KINDS[kind]})]
    assert commands and not any(REFUSED[kind].intersection(words) for words in commands)
    if kind == "analysis":
        assert not any("cpus=" in word for words in commands for word in words)
    assert any("mariadb?a=1&pool=1G" in words for words in commands)
