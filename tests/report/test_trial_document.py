"""The figures of a trial's document agree with one another, and say what was recorded of it."""

from dataclasses import replace

import pytest

from dbdyno.report.document import document
from dbdyno.results.read import read_run
from synthetic_run import SYSTEMS, write_run


def find(run_document, label, clients):
    return next(trial for trial in run_document["trials"] if (trial["label"], trial["clients"]) == (label, clients))


def test_figures_agree(run_document):
    trial = find(run_document, "mariadb", 2)
    measured = [second for second in trial["timeline"] if not second["warmup"]]
    assert trial["transactions"] == sum(second["transactions"] for second in measured)
    assert trial["throughput_per_s"] == pytest.approx(trial["transactions"] / trial["seconds"])
    assert trial["transaction"]["count"] == trial["transactions"]
    times = trial["transaction"]["service_time_us"]
    assert times["p50"] < times["p95"] < times["p99"] < times["max"]
    assert trial["client_cpu_us_per_transaction"] == pytest.approx(25, rel=0.01)
    assert trial["server_cpu_us_per_transaction"] == pytest.approx(60, rel=0.01)
    for counted in (trial["transaction"], *trial["operations"].values()):
        slow = [transaction["time_us"] for transaction in counted["slowest"]]
        assert slow[0] == counted["service_time_us"]["max"] and slow == sorted(slow, reverse=True) and len(slow) == 10
        assert {transaction["second"] for transaction in counted["slowest"]} <= {
            second["second"] for second in measured
        }
    parts = [operation["service_time_us"]["mean"] for operation in trial["operations"].values()]
    assert sum(parts) == pytest.approx(times["mean"], rel=0.05)


def test_several_servers_cost_their_sum(run_document):
    assert find(run_document, "cache-aside(memcached, mariadb)", 2)["server_cpu_us_per_transaction"] == pytest.approx(
        120, rel=0.01
    )


def test_an_embedded_store_has_no_server_cpu(run_document):
    assert find(run_document, "sqlite", 2)["server_cpu_us_per_transaction"] is None


def test_errors_of_every_second_count(run_document):
    redis = find(run_document, "redis", 4)
    assert redis["errors"] == sum(second["errors"] for second in redis["timeline"]) > 0
    assert redis["errors_by_kind"] == {"connect": redis["errors"]}
    assert redis["stability"]["longest_without_completion_s"] > 0


def test_few_samples_yield_no_percentile(plain):
    slow = document(plain)["trials"][0]
    assert slow["transaction"]["count"] < 10_000
    assert slow["transaction"]["service_time_us"]["p999"] is None
    assert slow["stability"]["floor"] is None


def test_counters_of_servers_are_differences(run_document):
    assert find(run_document, "mariadb", 1)["server_counters"] == {"mariadb": {"Com_stmt_execute": 30_000, "Uptime": 4}}


def test_each_load_thread_is_shown(run_document):
    busier, other = find(run_document, "mariadb", 1)["load_threads"]
    assert busier["cpu_share"] == pytest.approx(1.5 * other["cpu_share"]) and busier["cpu_share"] > 0
    assert (busier["run_queue_share"], other["run_queue_share"]) == pytest.approx((0.01, 0.02))


def test_of_a_closed_loop_there_is_one_time_and_nothing_is_offered(run_document):
    trial = run_document["trials"][0]
    assert trial["rate"] is None and not trial.keys() & {"offered_per_s", "late", "unfinished", "never_begun"}
    assert not {"response_time_us", "send_lag_us"} & trial["transaction"].keys()


def test_of_an_open_loop_three(opened):
    trial = opened["trials"][0]
    assert trial["rate"] == {"arrivals": "constant", "per_s": 2000, "words": "2,000/s"}
    assert (trial["offered_per_s"], trial["achieved_per_s"], trial["followed"]) == (2000, 2000, True)
    assert trial["late"] == trial["unfinished"] == trial["never_begun"] == 0
    for counted in (trial["transaction"], *trial["operations"].values()):
        assert {"service_time_us", "response_time_us", "send_lag_us"} <= counted.keys()


def test_who_was_limited_by_the_client_is_said_with_the_evidence(limited):
    free, bound = limited["trials"]
    assert (free["client_limited"], free["client_limited_evidence"]) == (False, None)
    assert bound["client_limited"] and bound["client_ceiling_per_s"] > bound["throughput_per_s"]
    assert bound["client_limited_evidence"].startswith("it reached 8")


def test_with_an_automatic_warm_up_every_figure_begins_at_the_cut(settled):
    (trial,) = settled["trials"]
    steady = trial["steady_state"]
    assert (trial["warmup"], steady["class"], steady["cut_s"], steady["applied"]) == ("auto", "warm-up", 40, True)
    counted = [second for second in trial["timeline"] if not second["warmup"]]
    assert (trial["warmup_seconds"], trial["seconds"], counted[0]["second"]) == (41, 80, 41)
    assert trial["transactions"] == sum(second["transactions"] for second in counted) == trial["transaction"]["count"]
    assert trial["throughput_per_s"] == pytest.approx(steady["mean_per_s"])
    assert trial["stability"]["seconds"] == 80


def test_a_restart_is_told_with_its_warm_rate(tmp_path):
    run = read_run(write_run(tmp_path / "run", systems=SYSTEMS[:1], clients=(1,), seconds=12))
    (trial,) = run.trials
    assert document(run)["trials"][0]["warm_up"] is None
    began = trial.recorded.run_began_unix_s
    about = {**trial.about, "restart": "cold", "answered_unix_s": began - 0.5}
    (restarted,) = document(replace(run, trials=(replace(trial, about=about),)))["trials"]
    assert restarted["warm_up"]["answered_s"] == 0.5
    assert (
        restarted["warm_up"]["first_per_s"]
        == restarted["timeline"][0]["transactions"] / restarted["timeline"][0]["seconds"]
    )


def test_the_end_of_a_trial_has_a_mean_of_its_own(run_document):
    trial = next(trial for trial in run_document["trials"] if (trial["label"], trial["clients"]) == ("mariadb", 2))
    last = [second for second in trial["timeline"] if not second["warmup"]][-trial["ending"]["seconds"] :]
    assert trial["ending"]["seconds"] == trial["stability"]["seconds"] // 3
    assert trial["ending"]["throughput_per_s"] == sum(trial["transactions"] for trial in last) / len(last)


def test_stalls_stand_with_the_evenness_and_in_their_seconds(hiccups):
    trial = find(hiccups, "redis", 8)
    stalls = trial["stability"]["stalls"]
    assert (stalls["threshold_ms"], stalls["longest_ms"], stalls["notable"]) == (10, 212, True)
    assert (stalls["count"], stalls["per_s"]) == (118, pytest.approx(118 / 12))
    assert stalls["share"] == pytest.approx((117 * 0.02 + 0.212) / 12)
    assert stalls["lengths"] == [{"from_ms": 20, "count": 117}, {"from_ms": 200, "count": 1}]
    warmup, first, second, *_ = trial["timeline"]
    assert "stalled_share" not in warmup
    assert (first["longest_stall_ms"], first["stalled_share"]) == (212, pytest.approx(0.21))
    assert (second["longest_stall_ms"], second["stalled_share"]) == (212, pytest.approx(0.202 + 0.14))


def test_a_load_client_that_records_no_gaps_tells_nothing_of_stalls(hiccups):
    other = next(trial for trial in hiccups["trials"] if trial["label"] != "redis")
    assert other["stability"]["stalls"] is None
    assert "stalled_share" not in other["timeline"][-1]
