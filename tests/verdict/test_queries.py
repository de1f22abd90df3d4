"""Each query of an analysis has a verdict if it was observed for long enough and something explains it."""

from dbdyno.verdict.judge import judge
from dbdyno.verdict.queries import verdicts_of_queries

from .made import BEGAN_UNIX_S, IDLE_HOST, host, process, trial, waits


def query(name, begin_s, end_s):
    """Return a query that was asked hot from and to these seconds of the trial."""
    length_s = (end_s - begin_s) / 3
    return {
        "name": name,
        "cold_s": length_s,
        "hot_s": [length_s] * 3,
        "hot_unix_s": [BEGAN_UNIX_S + begin_s, BEGAN_UNIX_S + end_s],
        "differs": None,
    }


def analysis(columns, *queries, streams=1, **about):
    said = {"cold": "started anew", "streams": streams, "queries": list(queries)}
    return trial(columns, clients=1, analysis=said, **about)


def test_a_query_is_limited_by_what_its_own_time_shows():
    seconds = [0.0] * 6 + [1.0] * 7
    states = waits(cpu=[1.0 - busy for busy in seconds], disk=seconds)
    made = analysis(states | host(IDLE_HOST), query("q0", 0, 5), query("q1", 6, 11))
    verdicts = verdicts_of_queries(made)
    assert {name: verdict.limit for name, verdict in verdicts.items()} == {"q0": "server-cpu", "q1": "disk"}
    assert verdicts["q1"].evidence[0] == "1.0 of 1.0 operations in flight (100%) were waiting for the disk"


def test_a_query_of_less_than_two_samples_has_none():
    columns = waits(cpu=1.0) | host(IDLE_HOST)
    made = analysis(columns, query("q0", 1, 2), query("q1", 3, 5))
    assert verdicts_of_queries(made).keys() == {"q1"}


def test_what_no_observation_explains_has_none():
    made = analysis(waits(other=1.0) | host(IDLE_HOST), query("q0", 0, 8))
    assert verdicts_of_queries(made) == {}
    assert verdicts_of_queries(analysis(None, query("q0", 0, 8))) == {}


def test_a_run_that_does_not_say_when_it_asked_has_none():
    old = query("q0", 0, 8)
    del old["hot_unix_s"]
    assert verdicts_of_queries(analysis(waits(cpu=1.0), old)) == {}
    assert verdicts_of_queries(trial(waits(cpu=1.0))) == {}


def test_several_streams_are_as_many_operations_in_flight():
    (verdict,) = verdicts_of_queries(
        analysis(waits(lock=3.0, cpu=1.0) | host(IDLE_HOST), query("q0", 0, 8), streams=4)
    ).values()
    assert verdict.limit == "lock"
    assert verdict.evidence[0] == "3.0 of 4.0 operations in flight (75%) were waiting for a lock"


def test_an_embedded_store_works_in_the_process_that_asks():
    columns = process("client", cpu=0.9) | host(IDLE_HOST)
    (verdict,) = verdicts_of_queries(analysis(columns, query("q0", 0, 8), embedded=True, servers=[])).values()
    assert verdict.limit == "server-cpu" and verdict.sentence.startswith("Limited by the CPU ")
    assert verdict.evidence[0] == "0.9 of 1.0 operations in flight (90%) were on the CPU or waiting for it"


def test_rules_of_the_engine_say_nothing_of_a_query():
    refaults = {"cgroup.mariadb.memory_bytes": 99.0, "cgroup.mariadb.memory_limit_bytes": 100.0}
    refaults |= {"cgroup.mariadb.refaulted_pages_total": 1000.0}
    columns = waits(disk=1.0) | host(IDLE_HOST) | refaults
    assert judge(trial(columns, clients=1, completed=10)).verdict.limit == "memory"
    assert verdicts_of_queries(analysis(columns, query("q0", 0, 8)))["q0"].limit == "disk"


def test_an_analysis_has_the_verdicts_of_its_queries_alone():
    concluded = judge(analysis(waits(cpu=1.0) | host(IDLE_HOST), query("q0", 0, 8)))
    assert concluded.verdict is None and concluded.time_budget is None
    assert concluded.queries["q0"].limit == "server-cpu"
    assert concluded.read(concluded.document()) == concluded
    assert "queries" not in judge(trial(waits(cpu=1.0))).document()
