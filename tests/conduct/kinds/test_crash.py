"""Stores killed in mid-load, started again, and asked for what they had acknowledged: real stores and real kills."""

import json

import pytest
from rich.console import Console

from dbdyno.conduct.kinds.crash import crash_of
from dbdyno.conduct.listener import Listener
from dbdyno.conduct.resolve import resolve
from dbdyno.conduct.run import conduct
from dbdyno.errors import RunFailed, UserError
from dbdyno.report.details import print_details
from dbdyno.results.read import read_run
from dbdyno.systems.mysql import binary_log
from dbdyno.systems.redis.redis import Redis
from dbdyno.systems.running import volume
from dbdyno.systems.witness import Promise
from helpers import experiment, need, workload

KEYS = {"workload": "durability", "rows": 400, "clients": [4], "seconds": 1, "warmup_seconds": 0, "host": False}


def run(tmp_path, *systems, **keys):
    end = conduct(experiment(**KEYS | {"system": list(systems)} | keys), "dbdyno run", tmp_path, Listener())
    recorded_run = read_run(end.folder)
    return end, [(trial, trial.about.get("crash")) for trial in recorded_run.trials], recorded_run


def assert_whole(crash):
    assert crash["acknowledged"] > 0
    assert (crash["missing"], crash["half_applied"], crash["gone"], crash["damaged"]) == (0, 0, 0, 0)
    # A client has one write in flight.
    assert crash["unacknowledged"] <= 4
    assert crash["verdict"] == "kept" and crash["first_read_s"] > 0


def test_a_killed_server_has_what_it_flushed_and_may_lack_what_it_did_not(tmp_path):
    need("mariadb")
    flush = "mariadb?innodb_flush_log_at_trx_commit"
    end, ((_, flushed), (_, late)), recorded_run = run(tmp_path, f"{flush}=1", f"{flush}=0")
    assert (end.state, end.reason) == ("complete", None)
    assert flushed["writes"] == "transaction"
    assert_whole(flushed)
    assert flushed["ready_s"] > 0
    # A second of writes stays in the server's own memory.
    assert late["missing"] > 0 and (late["half_applied"], late["gone"]) == (0, 0)
    assert late["verdict"] == "kept" and "missing, back to" in late["sentence"]
    console = Console(record=True, width=120)
    print_details(recorded_run, console)
    assert "kept its promise (D2): none of" in " ".join(console.export_text().split())


# Nodes of Galera take ten seconds each to join.
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "system",
    [
        "replicated(mariadb*2)",
        "replicated(postgresql*2)",
        pytest.param("galera?nodes=3&write=one", marks=pytest.mark.systems),
    ],
)
def test_a_killed_replica_has_the_rows_of_the_others_once_it_is_back(system, tmp_path):
    need(system)
    # A group of Galera waits for five seconds before it goes on without a node.
    seconds = 8 if system.startswith("galera") else 2
    end, ((_, crash),), _ = run(tmp_path, system, options={"crash": "kill-replica"}, seconds=seconds)
    assert (end.state, end.reason) == ("complete", None)
    assert_whole(crash)
    assert (crash["kind"], crash["ready_s"] > 0) == ("kill-replica", True)
    assert {held["verdict"] for held in crash["agreement"]} == {"kept"}
    others = [held for held in crash["agreement"] if held["name"] != "binary log"]
    assert others and all(held["promised"] and held["alone_missing"] is None for held in others)


@pytest.mark.parametrize(
    ("system", "why"),
    [
        ("mariadb", r"mariadb: it has no replica to kill: give replicated\(mariadb\*2\)"),
        ("mysql://u@127.0.0.1/d", "it has no replica to kill"),
        ("galera?nodes=2&write=one", "a node is killed beside two others"),
        ("galera?nodes=3", r"clients use the first: give galera\?nodes=3&write=one"),
    ],
)
def test_a_replica_that_cannot_be_killed_is_refused(system, why):
    with pytest.raises(UserError, match=why):
        resolve(experiment(**KEYS | {"system": system, "options": {"crash": "kill-replica"}}).experiment)


def test_a_server_without_transactions_keeps_its_log_or_nothing(tmp_path):
    need("redis", "memcached")
    end, ((_, logged), (_, bare), (_, cache)), _ = run(
        tmp_path, "redis?appendonly=yes&appendfsync=always", "redis", "memcached"
    )
    assert (end.state, end.reason) == ("complete", None)
    assert logged["writes"] == "apart"
    assert (logged["missing"], logged["gone"], logged["verdict"]) == (0, 0, "kept")
    for crash in (bare, cache):
        assert crash["missing"] == crash["acknowledged"] > 0
        assert crash["gone"] == 2 * KEYS["rows"]
        assert crash["verdict"] == "nothing promised"


def test_a_binary_log_and_a_replica_agree_with_the_store_that_flushes_both(tmp_path):
    need("mariadb")
    both = "replicated(mariadb?sync_binlog=1, mariadb)"
    end, ((trial, crash),), recorded_run = run(tmp_path, both)
    assert (end.state, end.reason, trial.state) == ("complete", None, "complete")
    assert_whole(crash)
    log, replica = crash["agreement"]
    assert replica["name"] == "replica replicated-2" and replica["alone_missing"] is not None
    for held in (log, replica):
        if not held["unable"]:
            assert (held["verdict"], held["store_only"], held["other_only"]) == ("kept", 0, 0)
    console = Console(record=True, width=160)
    print_details(recorded_run, console)
    assert "the replica replicated-2 holds the same rows; promised by sync_binlog=1" in " ".join(
        console.export_text().split()
    )


def test_a_log_that_keeps_more_than_the_store_is_broken_only_if_it_was_promised(tmp_path, monkeypatch):
    need("mariadb")
    late = "mariadb?log_bin=on&binlog_format=ROW&innodb_flush_log_at_trx_commit=0"
    end, ((_, crash),), _ = run(tmp_path, late)
    (log,) = crash["agreement"]
    if log["unable"]:
        pytest.skip(log["unable"])
    # The kernel has the log's writes that a kill takes from the store's own memory.
    assert log["other_only"] > 0 == log["store_only"]
    assert (end.state, crash["verdict"], log["verdict"]) == ("complete", "kept", "nothing promised")
    monkeypatch.setattr(binary_log, "promise_of", lambda variables: Promise(True, "a lie"))
    end, ((trial, crash),), _ = run(tmp_path, late)
    assert (trial.state, crash["verdict"]) == ("failed", "broken")
    assert trial.reason.startswith("BROKE its promise: the binary log lacks 0 writes")


def test_an_embedded_store_dies_with_its_client(tmp_path):
    end, ((trial, crash),), _ = run(tmp_path, "sqlite")
    assert (end.state, end.reason) == ("complete", None)
    assert (trial.state, crash["ready_s"]) == ("complete", None)
    assert_whole(crash)
    assert trial.recorded.end is None


def test_postgresql_is_killed_with_all_its_processes(tmp_path):
    need("postgresql")
    end, ((_, crash),), _ = run(tmp_path, "postgresql")
    assert (end.state, end.reason) == ("complete", None)
    assert_whole(crash)


def test_a_power_cut_takes_what_was_not_flushed(tmp_path):
    need("redis")
    if reason := volume.missing():
        pytest.skip(reason)
    log = "redis?appendonly=yes&appendfsync"
    end, ((_, flushed), (_, handed_over)), _ = run(
        tmp_path, f"{log}=always", f"{log}=no", workload="durability?crash=power-cut"
    )
    assert (end.state, end.reason) == ("complete", None)
    assert (flushed["kind"], flushed["missing"], flushed["verdict"]) == ("power-cut", 0, "kept")
    # The kernel had it, which after a mere kill is enough.
    assert handed_over["missing"] > 0


def test_every_repetition_is_a_crash_of_its_own(tmp_path):
    _, trials, _ = run(tmp_path, "sqlite", repeat=2)
    first, second = (crash for _, crash in trials)
    assert_whole(first)
    assert_whole(second)
    assert len({trial.about["preparation"] for trial, _ in trials}) == 2


def test_a_store_that_does_not_come_up_again_fails(tmp_path, monkeypatch):
    need("redis")

    def start_again(self):
        raise RunFailed("its log is torn")

    monkeypatch.setattr(Redis, "start_again", start_again)
    end, ((trial, crash),), _ = run(tmp_path, "redis")
    assert (end.state, trial.state, crash) == ("failed", "failed", None)
    assert trial.reason == "it did not start again: its log is torn"


def test_a_load_that_ends_by_itself_is_no_crash(tmp_path, fake_load, fake_system, monkeypatch):
    monkeypatch.setattr(fake_system, "can_crash", True)
    fake_load(die="run")
    end, ((trial, _),), _ = run(tmp_path, "fake")
    assert end.state == "failed"
    assert "dbdyno-load was killed by SIGKILL before its end" in trial.reason


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"system": "redis://host"}, "redis://host: 'durability' kills its store and starts it again: give one of"),
        ({"system": "cache-aside(memcached, mariadb)"}, "kills its store and starts it again: give one of"),
        ({"workload": ["durability", "point-get"]}, "workload: 'durability' kills its store"),
        ({"rate": 100}, "rate: 'durability' kills its store"),
        ({"restart": "cold"}, "leave restart out"),
    ],
    ids=str,
)
def test_what_makes_no_sense_with_a_crash_is_refused(keys, said):
    with pytest.raises(UserError, match=said.replace("(", r"\(")):
        resolve(experiment(**KEYS | {"system": "sqlite"} | keys).experiment)


@pytest.mark.parametrize(
    "system",
    [
        *("sqlite?synchronous=off", "lmdb", "rocksdb", "tkrzw", "tokyocabinet", "kyotocabinet"),
        *("mariadb", "postgresql", "memcached"),
        *(f"redis?appendonly=yes&appendfsync={sync}" for sync in ("always", "everysec", "no")),
    ],
)
def test_a_power_cut_repeats(system, tmp_path):
    need(system.partition("?")[0])
    if reason := volume.missing():
        pytest.skip(reason)
    end, crashes, _ = run(tmp_path, system, workload="durability?crash=power-cut", repeat=2)
    assert (end.state, end.reason) == ("complete", None)
    assert [trial.about["repeat"] for trial, _ in crashes] == [1, 2]
    assert all(crash["acknowledged"] > 0 and crash["verdict"] != "broken" for _, crash in crashes)


def test_a_power_cut_that_is_not_permitted_is_refused(monkeypatch):
    monkeypatch.setattr(volume, "missing", lambda: "it mounts a file system, which takes root")
    keys = KEYS | {"system": "sqlite", "options": {"crash": "power-cut"}}
    with pytest.raises(UserError, match="crash=power-cut: it mounts a file system, which takes root; crash=kill does"):
        resolve(experiment(**keys).experiment)


def test_a_load_client_is_not_told_what_is_not_its_affair(tmp_path):
    assert crash_of(workload("durability", crash="kill")) == crash_of(workload("durability")) == "kill"
    assert crash_of(workload("durability?crash=power-cut", crash="kill")) == "power-cut"
    end, ((trial, _),), _ = run(tmp_path, "sqlite", options={"crash": "kill"})
    plan = json.loads((end.folder / "trials" / trial.name / "plan.json").read_text())
    assert plan["workload"]["options"] == {"writes": "transaction"}
