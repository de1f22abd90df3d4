"""A run of an analytic workload: its folder, its answers, its failures."""

import os
import signal
import threading
from contextlib import closing

import pytest

from dbdyno.analytics.air_traffic import AirTraffic
from dbdyno.analytics.columns import FLIGHTS
from dbdyno.analytics.files import generated
from dbdyno.analytics.months import plan_months
from dbdyno.analytics.table import Query
from dbdyno.conduct.kinds import analysis
from dbdyno.conduct.listener import Listener
from dbdyno.conduct.run import conduct
from dbdyno.errors import UserError
from dbdyno.results.read import read_run
from dbdyno.systems.analytic.duckdb import DuckDB
from dbdyno.systems.attached_analyst import marker_of
from helpers import experiment, need, running, system, wait_until

KEYS = {"workload": "air-traffic", "system": ["duckdb?threads=1", "duckdb?threads=2"], "rows": 2000, "clients": [1]}
KEYS |= {"options": {"until": "2009-12"}, "operation_timeout_seconds": 60}


@pytest.fixture(autouse=True)
def caches(monkeypatch, tmp_path, fake_load):
    """Have tests drop no cache of the host."""
    need("duckdb")
    drop = tmp_path / "drop_caches"
    drop.touch()
    monkeypatch.setattr(analysis, "DROP_CACHES", drop)
    return drop


def run(tmp_path, **keys):
    end = conduct(experiment(**KEYS | keys), "dbdyno run air-traffic", tmp_path, Listener())
    return end, read_run(end.folder)


def test_a_run_has_times_sizes_and_answers(tmp_path, caches):
    end, recorded_run = run(tmp_path)
    assert (end.state, end.reason) == ("complete", None)
    for trial in recorded_run.trials:
        assert trial.state == "complete" and not trial.warnings
        assert trial.about["loaded"]["rows"] == trial.about["rows"] == 2000
        assert trial.about["loaded"]["size_bytes"] > 100_000
        assert "to 2009-12" in trial.about["loaded"]["source"]
        asked = trial.about["analysis"]["queries"]
        assert len(asked) == 15 and all(len(query["hot_s"]) == 3 and query["cold_s"] > 0 for query in asked)
        assert all(query["answer"] for query in asked)
        # Three passes hot, and in each every query once.
        assert trial.recorded.completed == 3
        assert {operation.service_time.count for operation in trial.recorded.operations} == {3}
        assert all(check["ok"] for check in trial.recorded.checks)
    assert caches.read_text() == "3"


BUSY = """WITH RECURSIVE busy(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM busy
WHERE clock_timestamp() < statement_timestamp() + interval '1.2 s') SELECT MIN(i) FROM busy"""
"""A query that computes for so long on any processor."""


def test_server_and_host_are_observed_while_a_query_is_asked(tmp_path, monkeypatch):
    need("postgresql")
    queries = (Query("short", "short", "SELECT 1"), Query("busy", "computes", BUSY))
    monkeypatch.setattr(AirTraffic, "queries", lambda self, rows: queries)
    end, recorded_run = run(tmp_path, system="postgresql", options={"until": "2009-12", "streams": "2"})
    assert (end.state, end.reason) == ("complete", None)
    (trial,) = recorded_run.trials
    assert [used.process for used in trial.usage] == ["client", "postgresql"]
    short, busy = trial.recorded.hot_unix_s
    begin, finish = trial.recorded.window_unix_s
    assert (begin, finish) == (short[0], busy[1]) and trial.recorded.left_out_unix_s == ((short[1], busy[0]),)
    at = trial.observations.at_unix_s
    assert begin - 5 < at[0] < busy[0] < at[-1] < finish + 5
    # The server began anew before the second query, and so did what it counts.
    used = trial.observations.columns["process.postgresql.cpu_user_s_total"]
    assert trial.observations.mean_rate("process.postgresql.cpu_user_s_total", *busy) > 0.1
    assert used[at < busy[0] - 0.1][-1] < used[-1]
    # Two streams compute, on a processor or waiting for one; on a full host the short query may be observed too.
    assert trial.judged.verdict is None and "busy" in trial.judged.queries
    assert trial.judged.queries["busy"].limit in ("server-cpu", "host-cpu", "neighbour")
    assert "of 2.0 operations in flight" in trial.judged.queries["busy"].sentence


def test_an_embedded_store_is_observed_as_its_process(tmp_path, monkeypatch):
    pids = []
    monkeypatch.setattr(AirTraffic, "queries", lambda self, rows: (Query("q0", "one", "SELECT 1"),))

    def watching(self, client_pid, real=analysis.StageObserver.watching):
        pids.append(client_pid)
        return real(self, client_pid)

    monkeypatch.setattr(analysis.StageObserver, "watching", watching)
    _, recorded_run = run(tmp_path, system="duckdb")
    (trial,) = recorded_run.trials
    assert pids == [os.getpid()]
    assert [used.process for used in trial.usage] == ["client"] and trial.usage[0].resident_bytes > 10_000_000
    assert "waits.client.lock" not in trial.observations.columns


def test_without_observation_the_answers_are_the_same(tmp_path):
    end, recorded_run = run(tmp_path, system="duckdb", observe=False)
    (trial,) = recorded_run.trials
    assert end.state == "complete" and trial.observations is None and trial.facts.usage is None


def test_a_loaded_preparation_says_how_fast(tmp_path):
    _, recorded_run = run(tmp_path)
    assert {preparation.rows for preparation in recorded_run.preparations.values()} == {2000}


def test_a_store_that_answers_otherwise_fails(tmp_path, monkeypatch):
    def analyst(self, real=DuckDB.analyst):
        made = real(self)
        if self.spec.settings["threads"] == "2":
            made.ask = lambda sql, ask=made.ask: (
                [(*row[:-1], 7) for row in ask(sql)] if '"Origin",' in sql else ask(sql)
            )
        return made

    monkeypatch.setattr(DuckDB, "analyst", analyst)
    end, recorded_run = run(tmp_path)
    assert end.state == "failed"
    first, second = recorded_run.trials
    assert first.state == "complete"
    assert second.state == "failed" and "1 of 15 answers differ; q3: row 1:" in second.reason


def test_variants_of_a_workload_are_tables_and_answers_of_their_own(tmp_path):
    layouts = ["tinyint", "tinyints-varchar"]
    end, recorded_run = run(tmp_path, workload="wide-rows", system="duckdb", rows=300, options={"layout": layouts})
    assert (end.state, end.reason) == ("complete", None)
    asked = [trial.about["analysis"]["queries"] for trial in recorded_run.trials]
    assert [[query["name"] for query in queries] for queries in asked] == [["first", "last", "all"]] * 2
    assert [queries[-1]["columns"] for queries in asked] == [1, 100]


def test_a_query_that_takes_too_long_fails_the_trial(tmp_path, monkeypatch):
    endless = "SELECT COUNT(*) FROM range(100000000) a, range(100000000) b WHERE a.range % 7 = b.range % 3"
    monkeypatch.setattr(AirTraffic, "queries", lambda self, rows: (Query("q0", "never", endless),))
    end, _ = run(tmp_path, system="duckdb", operation_timeout_seconds=1)
    assert end.state == "failed"
    assert "q0: no answer within 1 s" in end.reason


def test_a_signal_ends_a_query(tmp_path, monkeypatch):
    endless = "SELECT COUNT(*) FROM range(100000000) a, range(100000000) b WHERE a.range % 7 = b.range % 3"
    monkeypatch.setattr(AirTraffic, "queries", lambda self, rows: (Query("q0", "never", endless),))
    begun = threading.Event()

    class Telling(Listener):
        def trial_begins(self, trial):
            begun.set()

    def interrupt():
        wait_until(begun.is_set)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    end = conduct(experiment(**KEYS | {"system": "duckdb"}), "dbdyno run air-traffic", tmp_path, Telling())
    thread.join()
    assert end.state == "interrupted"


def test_files_of_ones_own_are_loaded(tmp_path):
    folder = tmp_path / "own"
    folder.mkdir()
    analysis_files = next(iter(generated(plan_months(300, (1988, 1)), 1, folder)))
    assert sum(count for _, count in analysis_files) == 300
    end, recorded_run = run(tmp_path, system="duckdb", options={"csv": str(folder)})
    assert end.state == "complete"
    assert recorded_run.trials[0].about["rows"] == 300


@pytest.mark.parametrize("options", [{"until": "2009"}, {"until": "1980-01"}, {"csv": "nowhere"}])
def test_a_source_that_is_none_is_refused_before_anything_starts(tmp_path, options):
    with pytest.raises(UserError, match=next(iter(options.values()))):
        run(tmp_path, system="duckdb", options=options)


@pytest.mark.parametrize(
    ("keys", "what"),
    [
        ({"clients": [1, 2]}, "clients: 'air-traffic'"),
        ({"restart": "cold"}, "restart: 'air-traffic'"),
        ({"rate": 5}, "rate: 'air-traffic'"),
        (
            {"system": "redis"},
            "'redis' cannot do; mariadb, mysql, postgresql, sqlite, duckdb, chdb, monetdb, clickhouse can",
        ),
        ({"workload": ["air-traffic", "wide-rows"], "options": {}}, "workload: 'air-traffic'"),
        ({"system": "mongodb://me@localhost/test"}, "cannot do; mariadb, mysql"),
        ({"options": {"malformed": "hide"}}, "give one of fail, skip"),
    ],
)
def test_what_it_cannot_do_is_refused(tmp_path, keys, what):
    with pytest.raises((UserError, ValueError), match=what):
        run(tmp_path, **keys)


def url_of(server):
    """Return the URL of a server, as of somebody else's."""
    scheme, endpoint = {"mariadb": "mysql"}.get(server.name, server.name), server.endpoint
    return f"{scheme}://{endpoint.user}:{endpoint.password}@127.0.0.1:{endpoint.port}/{endpoint.database}"


@pytest.mark.parametrize("name", ["mariadb", "postgresql"])
def test_somebody_elses_server_is_loaded_asked_and_left_as_it_was(tmp_path, name, caches):
    with running(name, tmp_path) as server, closing(system(url_of(server)).analyst()) as before:
        settings = server.all_settings()[name]
        end, recorded_run = run(tmp_path, system=["duckdb", url_of(server)])
        assert (end.state, end.reason) == ("complete", None)
        attached = next(trial for trial in recorded_run.trials if trial.about["attached"])
        assert attached.about["loaded"]["rows"] == 2000 and attached.about["loaded"]["size_bytes"] > 100_000
        assert attached.about["cache_state"] is None and "restarts no server" in attached.about["analysis"]["cold"]
        assert before.comment(FLIGHTS) is None
        assert server.all_settings()[name] == settings and server.death() is None


@pytest.mark.parametrize("name", ["mariadb", "postgresql"])
def test_a_table_of_the_owners_is_refused_and_stays_and_one_that_was_left_is_replaced(tmp_path, name):
    with running(name, tmp_path) as server, closing(system(url_of(server)).analyst()) as owner:
        owner.ask(f"CREATE TABLE {FLIGHTS.name} (precious INTEGER)")
        end, recorded_run = run(tmp_path, system=url_of(server))
        assert end.state == "failed"
        assert "without dbdyno's marker exists, and dbdyno does not drop it" in recorded_run.trials[0].reason
        assert owner.ask(f"SELECT precious FROM {FLIGHTS.name}") in ((), [])
        owner.ask(f"DROP TABLE {FLIGHTS.name}")
        owner.create_marked(FLIGHTS, marker_of("an-earlier-run", "air-traffic", 2000))
        end, _ = run(tmp_path, system=url_of(server))
        assert (end.state, end.reason) == ("complete", None) and owner.comment(FLIGHTS) is None


def test_a_server_that_takes_no_files_says_who_can_permit_it(tmp_path):
    with running("mariadb?local_infile=off", tmp_path) as server:
        end, recorded_run = run(tmp_path, system=url_of(server))
        assert end.state == "failed"
        assert "its administrator permits it by SET GLOBAL local_infile = 1" in recorded_run.trials[0].reason
        assert server.all_settings()["mariadb"]["local_infile"] == "OFF"


def test_a_query_that_is_given_up_ends_on_the_server(tmp_path, monkeypatch):
    monkeypatch.setattr(AirTraffic, "queries", lambda self, rows: (Query("q0", "long", "SELECT SLEEP(600)"),))
    with running("mariadb", tmp_path) as server, closing(system(url_of(server)).analyst()) as owner:
        end, _ = run(tmp_path, system=url_of(server), operation_timeout_seconds=1)
        assert end.state == "failed"
        asking = "SELECT COUNT(*) FROM information_schema.processlist WHERE info = 'SELECT SLEEP(600)'"
        wait_until(lambda: owner.ask(asking)[0][0] == 0)


def test_repetitions_load_anew_and_are_shown_as_one(tmp_path):
    end, recorded_run = run(tmp_path, system="duckdb", repeat=2)
    assert (end.state, end.reason) == ("complete", None)
    assert [trial.about["repeat"] for trial in recorded_run.trials] == [1, 2]
    assert all(trial.about["loaded"]["rows"] == 2000 for trial in recorded_run.trials)


def test_a_query_without_an_answer_is_marked_and_the_others_go_on(tmp_path, monkeypatch):
    endless = "SELECT COUNT(*) FROM range(100000000) a, range(100000000) b WHERE a.range % 7 = b.range % 3"
    sqls = {"q0": "SELECT 1", "q1": endless, "q2": "SELECT no_such_column FROM ontime", "q3": "SELECT 3"}
    queries = tuple(Query(name, name, sql) for name, sql in sqls.items())
    monkeypatch.setattr(AirTraffic, "queries", lambda self, rows: queries)
    end, recorded_run = run(tmp_path, system="duckdb", operation_timeout_seconds=1)
    (trial,) = recorded_run.trials
    assert end.state == trial.state == "failed"
    assert "2 of 4 queries have no answer; duckdb: q1: no answer within 1 s" in trial.reason
    about = trial.about["analysis"]
    assert [query["name"] for query in about["queries"]] == ["q0", "q3"]
    assert [(query["name"], "no_such_column" in query["reason"]) for query in about["unanswered"]] == [
        ("q1", False),
        ("q2", True),
    ]
    assert [check["name"] for check in trial.recorded.checks if not check["ok"]] == ["q1: an answer", "q2: an answer"]


def test_streams_ask_the_hot_queries_at_once(tmp_path):
    end, recorded_run = run(tmp_path, system="duckdb", options={"until": "2009-12", "streams": [1, 3]})
    assert (end.state, end.reason) == ("complete", None)
    assert [trial.about["workload"] for trial in recorded_run.trials] == [
        "air-traffic?streams=1",
        "air-traffic?streams=3",
    ]
    for trial in recorded_run.trials:
        asked = trial.about["analysis"]["queries"]
        assert len(asked) == 15 and all(len(query["hot_s"]) == 3 for query in asked)


def test_a_stream_that_answers_otherwise_fails_the_trial(tmp_path, monkeypatch):
    made = []

    def analyst(self, real=DuckDB.analyst):
        other = real(self)
        made.append(other)
        if len(made) % 2 == 0:
            other.ask = lambda sql, ask=other.ask: [(7,)] if sql == "SELECT 1" else ask(sql)
        return other

    monkeypatch.setattr(AirTraffic, "queries", lambda self, rows: (Query("q0", "one", "SELECT 1"),))
    # The table is loaded by its own connection, after one that reads the settings.
    monkeypatch.setattr(DuckDB, "analyst", analyst)
    end, _ = run(tmp_path, system="duckdb", options={"streams": "2"})
    assert end.state == "failed" and "1 of 1 answers differ; q0: asked again: " in end.reason


def test_a_store_with_one_connection_has_one_stream(tmp_path, monkeypatch):
    monkeypatch.setattr(DuckDB, "several_analysts", False)
    with pytest.raises(UserError, match=r"options\.streams: 'duckdb' has one connection"):
        run(tmp_path, system="duckdb", options={"streams": "2"})
