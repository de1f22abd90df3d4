"""The fairness card reads every line off the run, and says what it could not see."""

from dataclasses import replace

import pytest

from dbdyno.results.model import Operation
from dbdyno.results.read import read_run
from dbdyno.verdict.card import card, short
from synthetic_run import SYSTEMS, write_run


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return read_run(write_run(tmp_path_factory.mktemp("runs") / "run", SYSTEMS, clients=(4,), seconds=2))


def lines_of(cards, label):
    (system,) = [system for system in cards.systems if system.label == label]
    return {line.name: line for line in system.lines}


def changed(run, label, observed=None, **about):
    trials = tuple(
        replace(trial, about={**trial.about, **about}, observed=trial.observed | (observed or {}))
        if trial.label == label
        else trial
        for trial in run.trials
    )
    return lines_of(card(replace(run, trials=trials)), label)


def test_each_line_of_a_server(run):
    lines = lines_of(card(run), "mariadb")
    assert lines["versions"].text == "mariadb 10.11.14, dbdyno-load 0.1.0, dbdyno 0.1.0"
    assert lines["settings"].text == "default: the experiment gave none"
    assert lines["durability"].text == "D2: innodb_flush_log_at_trx_commit=1"
    assert lines["place"].text == "client and server on one host, client pinned to CPU 0, server pinned to CPU 1"
    assert lines["answers"].text.endswith("checks made, all right") and lines["answers"].badge is None
    assert "was not observed (innodb_buffer_pool_size 134217728)" in lines["memory"].text


def test_an_embedded_and_an_attached_one(run):
    assert lines_of(card(run), "sqlite")["place"].text.startswith("embedded: it runs in the client's own threads")
    assert changed(run, "redis", attached=True)["place"].text.startswith("attached, on this host: ")
    unseen = replace(run, trials=tuple(replace(trial, usage=()) for trial in run.trials))
    assert changed(unseen, "redis", attached=True)["place"].text.startswith("attached: ")
    assert changed(run, "redis", client_cpus=None, server_cpus=None)["place"].text.endswith(
        "neither pinned to processors"
    )


def test_several_hosts_are_named(run):
    clients = [{"name": "c1"}, {"name": "c2"}]
    server = {"name": "s1", "role": "server"}
    assert changed(run, "redis", hosts=[*clients, server])["place"].text == "clients on c1, c2, server on s1"
    reached = changed(run, "redis", hosts=clients, attached=True)
    assert reached["place"].text == "clients on c1, c2, server on a host that was not observed"


def test_settings_that_a_library_does_not_show_are_said(run):
    hidden = changed(run, "sqlite", servers=[{"name": "tkrzw", "not_readable": ["file"]}])
    assert hidden["not readable"].text == "file: taken without an error, not shown by tkrzw"
    assert "not readable" not in lines_of(card(run), "sqlite")


def test_a_build_that_was_started_from_a_path_is_told_from_others_of_its_version(run):
    build = {"setting": "binary", "path": "/opt/a/redis-server", "version": "7.0.15", "sha256": "ab" * 32}
    for build_id, said in (("cd" * 20, "cdcdcdcdcdcd"), (None, "none")):
        server = {"name": "redis", "version": "7.0.15", "build": build | {"build_id": build_id}}
        build_line = changed(run, "redis", servers=[server])["build"]
        assert build_line.text == f"redis 7.0.15 from /opt/a/redis-server, sha256 abababababab, build id {said}"
        assert build_line.brief == "build /opt/a/redis-server"
    given = {"binary": "/opt/a/redis-server"}
    assert changed(run, "redis", servers=[server], settings=given)["settings"].brief == "default settings"
    assert "build" not in lines_of(card(run), "redis")


@pytest.mark.parametrize(("setting", "name"), [("library", "client: C library"), ("program", "client")])
def test_the_file_that_a_client_names_is_a_build_too(run, setting, name):
    build = {"setting": setting, "path": "/opt/mine", "version": "7", "sha256": "ab" * 32, "build_id": None}
    build_line = changed(run, "redis", client_build=build)["build"]
    assert build_line.text == f"{name} 7 from /opt/mine, sha256 abababababab, build id none"


def test_a_configuration_file_is_shown_with_all_it_sets(run):
    config = {"path": "/etc/its.conf", "sha256": "ab" * 32, "settings": {"io-threads": "4", "hz": "20"}}
    server = {"name": "redis", "version": "7", "config": config, "started_with": ["io-threads 4", "maxclients 9"]}
    lines = changed(run, "redis", servers=[server])
    assert lines["config"].text == "/etc/its.conf, sha256 abababababab: io-threads = 4, hz = 20"
    assert lines["config"].brief == "config its.conf"
    assert lines["started with"].brief == "dbdyno set maxclients 9"


def test_settings_and_limits_that_were_given(run):
    assert lines_of(card(run), "redis")["settings"].text == "tuned: io-threads = 2"
    limited = changed(run, "redis", memory_limit_bytes=1024)["settings"]
    assert limited.text == "tuned: io-threads = 2, memory limit = 1,024 bytes"


def test_the_settings_of_an_attached_server_are_its_owners(run):
    line = changed(run, "mariadb", attached=True)["settings"]
    assert (line.text, line.brief) == ("the owner's: dbdyno gave none", "owner's settings")
    assert changed(run, "redis", attached=True)["settings"].text == "tuned: io-threads = 2"


def test_what_dbdyno_told_a_server_is_said_and_its_own_settings_in_short(run):
    options = ["--no-defaults", "--datadir=DIR/data", "--port=PORT", "--max-connections=151", "-c io-threads=2"]
    line = changed(run, "redis", servers=[{"name": "redis", "started_with": options}])["started with"]
    assert line.text == f"redis: {', '.join(options)}"
    assert line.brief == "dbdyno set --no-defaults, --max-connections=151"
    options = [f"-Xoption{number}" for number in range(9)]
    line = changed(run, "redis", servers=[{"name": "redis", "started_with": options}])["started with"]
    assert line.brief.endswith("-Xoption5, 3 more") and "-Xoption8" in line.text
    assert "started with" not in changed(run, "redis", servers=[{"name": "redis", "started_with": None}])


@pytest.mark.parametrize(("read_per_s", "said"), [(0.0, "smaller than the cache"), (1e9, "larger than the cache")])
def test_data_and_cache_by_what_was_read_from_the_disk(run, read_per_s, said):
    assert said in changed(run, "mariadb", {"process.mariadb.read_bytes_total": read_per_s})["memory"].text


def test_what_the_client_read_is_not_what_a_server_that_was_not_seen_did(run):
    unseen = replace(next(trial for trial in run.trials if trial.label == "mariadb"), usage=())
    unseen = replace(unseen, observed={"process.client.read_bytes_total": 0.0})
    lines = lines_of(card(replace(run, trials=(unseen,))), "mariadb")
    assert lines["memory"].brief == "cache not observed"


def test_a_little_that_is_read_anyway_is_not_what_few_transactions_miss_in_the_cache(run, monkeypatch):
    slow = next(trial for trial in run.trials if trial.label == "mariadb")
    slow = replace(slow, observed={"process.mariadb.read_bytes_total": 200_000.0})
    monkeypatch.setattr(type(slow.recorded), "throughput_per_s", 2.0)
    assert "smaller than the cache" in lines_of(card(replace(run, trials=(slow,))), "mariadb")["memory"].text


def test_a_cache_that_is_being_filled_is_not_too_small(run):
    server = next(trial for trial in run.trials if trial.label == "mariadb")
    read = [replace(server, observed={"process.mariadb.read_bytes_total": value}) for value in (0.0, 1e9)]
    text = lines_of(card(replace(run, trials=tuple(read))), "mariadb")["memory"].text
    assert text.startswith("data smaller than the cache: up to ") and "while the cache was being filled" in text


@pytest.mark.parametrize(
    ("per_s", "spent_s", "badge", "said"),
    [
        (400.0, 0.8, None, "400/s reached the device, 2,000 µs each"),
        (4000.0, 0.02, "flush in doubt", "a flush took 5 µs"),
        (0.0, 0.0, "flush in doubt", "received 0.0 flushes/s, but group commit needs at least"),
        (None, None, None, "whether flushes reach the device was not observed"),
    ],
)
def test_flushes_that_cannot_have_been(run, per_s, spent_s, badge, said):
    rate = next(trial for trial in run.trials if trial.label == "mariadb").recorded.throughput_per_s
    assert 0.5 * rate / 4 < 400
    seen = {"disk.vda.flushes_total": per_s, "disk.vda.flush_s_total": spent_s} if per_s is not None else {}
    line = changed(run, "mariadb", seen)["flushes"]
    assert said in line.text and line.badge == badge
    assert lines_of(card(run), "redis")["flushes"].text == "no write had to wait for a flush"


def doing(run, *operations):
    """The flushes of mariadb, had its transactions been of these operations, each as often."""
    trial = next(trial for trial in run.trials if trial.label == "mariadb")
    histogram = trial.recorded.service_time
    done = tuple(Operation(f"{position}", name, None, histogram, 0) for position, name in enumerate(operations))
    few = {"disk.vda.flushes_total": 0.5, "disk.vda.flush_s_total": 0.001}
    trial = replace(trial, recorded=replace(trial.recorded, operations=done), observed=few)
    return lines_of(card(replace(run, trials=(trial,))), "mariadb")["flushes"]


@pytest.mark.parametrize(
    "operations", [("get-many",), ("get-elsewhere", "find"), ("begin", "get", "commit")], ids=", ".join
)
def test_what_only_reads_waits_for_no_flush(run, operations):
    assert doing(run, *operations).text == "no write had to wait for a flush"


@pytest.mark.parametrize(
    "operations", [("begin", "sql", "sql", "commit"), ("begin", "sql", "commit", "transaction"), ()], ids=len
)
def test_which_commits_of_statements_wrote_is_not_known_so_their_flushes_are_not_judged(run, operations):
    line = doing(run, *operations)
    assert (line.brief, line.badge) == ("flushes not judged", None)
    assert line.text.endswith("which commits wrote is unknown; 0.5/s reached the device, 2,000 µs each")


def test_writes_of_one_transaction_wait_for_one_flush(run):
    trial = next(trial for trial in run.trials if trial.label == "mariadb")
    least = trial.recorded.throughput_per_s / 4
    line = doing(run, "begin", *["update"] * 9, "commit")
    assert line.badge == "flush in doubt" and f"group commit needs at least {least:,.1f}/s" in line.text


def test_a_devices_flushes_took_its_own_time(run):
    seen = {"vda.flushes_total": 4000.0, "vda.flush_s_total": 8.0, "vdb.flushes_total": 1.0, "vdb.flush_s_total": 0.9}
    line = changed(run, "mariadb", {f"disk.{name}": value for name, value in seen.items()})["flushes"]
    assert line.text == "4,000/s reached the device, 2,000 µs each"
    seen |= {"vdb.flush_s_total": 99.0}
    assert changed(run, "mariadb", {f"disk.{name}": value for name, value in seen.items()})["flushes"] == line


def test_answers_that_were_wrong_or_not_looked_at(run):
    def with_sums(**sums):
        trials = tuple(
            replace(trial, recorded=replace(trial.recorded, sums=replace(trial.recorded.sums, **sums), checks=()))
            for trial in run.trials
        )
        return lines_of(card(replace(run, trials=trials)), "redis")["answers"]

    assert with_sums(mismatches=3).badge == "wrong answers"
    assert with_sums(reads_verified=0).badge == "answers not checked"


@pytest.mark.parametrize(
    ("about", "said"),
    [
        (
            {"cache_state": "lukewarm", "data": "restored"},
            "lukewarm: on a copy of the loaded data, 1 s of warm-up before",
        ),
        ({"cache_state": "hot", "data": "loaded"}, "hot: as loading left it, 1 s of warm-up before"),
        ({}, "not observed: as loading left it"),
    ],
)
def test_cold_or_hot(run, about, said):
    preparations = {name: replace(preparation, about=about) for name, preparation in run.preparations.items()}
    line = lines_of(card(replace(run, preparations=preparations)), "mariadb")["temperature"]
    assert line.text.startswith(said)


def test_queries_that_were_asked_cold_and_hot(run):
    about = {"cache_state": "cold", "analysis": {"cold": "started anew"}}
    trials = tuple(replace(trial, about={**trial.about, **about}) for trial in run.trials)
    line = lines_of(card(replace(run, trials=trials)), "mariadb")["temperature"]
    assert (line.text, line.brief) == ("each query cold, then hot: started anew", "cold, then hot")


def test_a_ranking_across_durability_classes_is_badged(run):
    assert card(run).badge == "not like with like: D0, D1, D2"
    same = replace(run, trials=run.trials[:2])
    assert card(same).badge is None
    untold = replace(run.trials[0], about={**run.trials[0].about, "durability": None})
    assert card(replace(run, trials=(untold, run.trials[1]))).badge == "not like with like: D1, unknown"


def test_what_was_not_seen_is_said_once(run):
    missing = [{"band": "waits.mariadb", "reason": "no privilege"}]
    trials = tuple(replace(trial, about={**trial.about, "not_seen": missing}, observed={}) for trial in run.trials)
    cards = card(replace(run, trials=trials))
    assert cards.not_seen[0] == "waits.mariadb: no privilege" and "nothing was observed of sqlite" in cards.not_seen[1]


def test_in_short_systems_of_one_kind_share_a_line(run):
    lines = short(card(run))
    assert any(line.startswith("sqlite, lmdb: default settings · ") for line in lines) and len(lines) < 5
    (alone,) = short(card(replace(run, trials=run.trials[:1])))
    assert alone.startswith("default settings · ")


def test_the_command_repeats_it_and_nothing_reached_has_no_card(run):
    assert card(run).command == "dbdyno run quickstart"
    assert card(replace(run, trials=())).systems == ()
