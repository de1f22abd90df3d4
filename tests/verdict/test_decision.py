"""The widest band names the limit, unless the client, the requested rate, or stalls come before."""

from dataclasses import replace

import numpy as np
import pytest

from dbdyno.results.confirmation import Confirmation, Followed
from dbdyno.stats.histogram import Histogram, bucket_index
from dbdyno.stats.stalls import Stalls
from dbdyno.verdict.budget import time_budget
from dbdyno.verdict.decision import limited

from .made import BUSY_HOST, IDLE_HOST, host, process, queue, thread, trial, waits


def decision_of(made):
    return limited(made, time_budget(made))


IDLE = host(IDLE_HOST)
CPU = waits(cpu=2, cpu_wait=13.5, client=0.5) | process("mariadb", cpu=1.8, queue=13) | host(BUSY_HOST)
CPU |= process("client", cpu=0.18, queue=0.1)
IDLE_CLIENT = process("client", cpu=0.1)
LOOP = waits("redis", cpu=0.97, client=0.03) | thread("redis-server", 0.95, 0.02) | IDLE | IDLE_CLIENT
LOOP |= process("redis", cpu=0.97) | queue("redis", requests=9, answers=1)
REDIS = {"servers": [{"name": "redis"}]}
PRESSURE = {"pressure.io_some_s_total": 0.6}


@pytest.mark.parametrize(
    ("columns", "limit", "confidence", "runner_up"),
    [
        (CPU, "server-cpu", "high", None),
        (waits(cpu=2, cpu_wait=13.5, client=0.5), "server-cpu", "medium", None),
        (waits(disk=12, cpu=2, client=2) | IDLE | PRESSURE, "disk", "high", "server-cpu"),
        (waits(disk=12, cpu=2, client=2) | IDLE, "disk", "medium", "server-cpu"),
        (waits(lock=15, commit=1) | IDLE, "lock", "high", "commit"),
        (waits(commit=14, cpu=1.5, client=0.5) | IDLE | PRESSURE, "commit", "high", "server-cpu"),
        (waits(client=15.5, cpu=0.5) | IDLE | queue(in_transit=15), "network", "high", None),
        (waits(client=15.5, cpu=0.5) | IDLE | queue(whole=0), "network", "high", None),
        (waits(client=15.5, cpu=0.5) | IDLE, "unexplained", "low", None),
        (waits(client=15, cpu=1) | IDLE | queue(requests=14), "server-queue", "high", "server-cpu"),
        (waits(other=14, cpu=2) | IDLE, "unexplained", "low", "server-cpu"),
        (process("mariadb", cpu=0.3) | IDLE, "unexplained", "low", None),
        (waits(lock=5, cpu=4, disk=4, client=3), "lock", "high", "server-cpu"),
        (waits(disk=6, cpu=5, client=5) | IDLE, "disk", "low", "server-cpu"),
    ],
)
def test_the_widest_band(columns, limit, confidence, runner_up):
    said = decision_of(trial(columns))
    assert (said.limit, said.confidence, said.runner_up) == (limit, confidence, runner_up)
    assert said.in_flight == 16


def test_what_an_embedded_store_does_not_say_itself_is_not_sure():
    def of(**states):
        return decision_of(trial(waits("client", **states) | PRESSURE, servers=[], embedded=True))

    assert (of(lock=15).limit, of(lock=15).confidence) == ("lock", "medium")
    assert (of(lock=15, commit=1).limit, of(lock=15, commit=1).confidence) == ("commit", "high")


def test_a_figure_that_only_shows_how_it_was_makes_nothing_surer():
    waited = waits(commit=6, cpu=5, client=5) | IDLE
    flushed = {"disk.sda.flushes_total": 20, "disk.sda.flush_s_total": 0.4}
    said = decision_of(trial(waited | flushed))
    assert (said.limit, said.confidence, said.signs) == ("commit", "low", ())
    assert said.figures == ("20 flushes/s on sda, 20 ms each",)
    assert decision_of(trial(waited | flushed | PRESSURE)).confidence == "medium"
    written = {"store.mariadb.checkpointer_page_writes_total": 50}
    assert decision_of(trial(waited | flushed | written)).figures == said.figures
    waited_for_disk = decision_of(trial(waits(disk=12, cpu=4) | IDLE | flushed | written))
    assert waited_for_disk.figures == (*said.figures, "mariadb wrote 50 pages/s, 100% by checkpoints")
    assert waited_for_disk.confidence == "medium"
    assert decision_of(trial(CPU | flushed)).figures == ()


def test_what_queues_in_front_of_a_full_thread_waits_for_that():
    said = decision_of(trial(LOOP, **REDIS))
    assert (said.limit, said.confidence, said.runner_up) == ("server-thread", "high", None)
    assert said.signs == ("its thread 'redis-server' was busy 97% of the time (95% on a CPU)",)
    assert said.held == pytest.approx(14.9)
    assert decision_of(trial(process("mariadb", cpu=0.1) | IDLE | PRESSURE)).limit == "unexplained"


def test_a_full_client_is_the_limit_if_more_operations_are_there():
    answers = waits("redis", cpu=0.5, client=0.5) | IDLE | queue("redis", requests=1, answers=13)
    said = decision_of(trial(answers, cpu_s=1.9, **REDIS))
    assert (said.limit, said.confidence) == ("client", "high")
    assert "95% busy" in said.signs[0]
    assert decision_of(trial(LOOP, cpu_s=1.9, **REDIS)).limit == "server-thread"


def test_of_two_saturated_sides_neither_is_sure_and_both_are_named():
    said = decision_of(trial(LOOP, cpu_s=1.9, **REDIS))
    assert (said.limit, said.confidence) == ("server-thread", "low")
    assert said.signs[-1] == "the client was saturated too: its load threads were 95% busy"
    read = {name: value for name, value in LOOP.items() if not name.startswith("queue.")}
    said = decision_of(trial(read | queue("redis", requests=1, answers=14), cpu_s=1.9, **REDIS))
    assert (said.limit, said.confidence) == ("client", "low")
    assert said.signs[-1].startswith("the server was saturated too: its thread 'redis-server' was busy 97%")
    spare = decision_of(trial(LOOP, cpu_s=1.6, client_ceiling_per_s=1250.0, **REDIS))
    assert (spare.limit, spare.confidence) == ("server-thread", "high")
    answers = {**LOOP, **queue("redis", requests=1, answers=14)}
    fuller = decision_of(trial(answers, cpu_s=1.6, client_ceiling_per_s=1250.0, **REDIS))
    assert (fuller.limit, fuller.confidence) == ("client", "low")
    near = decision_of(trial(LOOP, cpu_s=1.6, client_ceiling_per_s=1050.0, **REDIS))
    assert (near.limit, near.confidence) == ("server-thread", "low")


def test_full_processors_are_not_sure_beside_locks_with_a_queue():
    def beside(lock):
        working = waits(cpu=12 - lock, lock=lock) | process("mariadb", cpu=0.99, queue=8)
        return decision_of(trial(working | IDLE, server_cpus=[1], client_cpus=[0]))

    sure, doubtful = beside(2), beside(4)
    assert (sure.limit, sure.confidence) == ("server-cpu", "high")
    assert (doubtful.limit, doubtful.confidence) == ("server-cpu", "low")
    assert doubtful.signs[-1] == "locks had a queue too: 4.0 operations in flight (25%)"
    nothing = process("mariadb", cpu=0.99, queue=8) | IDLE
    assert decision_of(trial(nothing, server_cpus=[1], client_cpus=[0], clients=0)).in_flight == 0


def test_what_queues_in_front_of_a_thread_that_flushes_waits_for_the_flush():
    flushing = waits("redis", cpu=0.1, commit=0.85, client=0.05) | IDLE | IDLE_CLIENT | queue("redis", requests=12)
    said = decision_of(trial(flushing, **REDIS))
    assert (said.limit, said.confidence) == ("commit", "high")
    assert said.signs[0].startswith("the threads of redis that serve clients were idle 5% of the time")
    assert said.held == pytest.approx(0.85 + 12 + 2.95)
    busy = flushing | waits("redis", cpu=0.6, commit=0.2, other=0.2)
    assert (decision_of(trial(busy, **REDIS)).limit, decision_of(trial(busy, **REDIS)).confidence) == (
        "server-thread",
        "high",
    )
    # Short pauses are not observed: without a queue it is not known that the thread has none.
    unqueued = busy | queue("redis", requests=2, whole=0)
    assert decision_of(trial(unqueued, **REDIS)).limit == "unexplained"
    rarely = flushing | waits("redis", cpu=0.1, commit=0.3, client=0.6)
    assert decision_of(trial(rarely, **REDIS)).limit == "server-queue"


def test_the_client_that_is_not_full_is_nobodys_limit():
    answers = waits("redis", cpu=0.5, client=0.5) | IDLE | queue("redis", answers=13)
    assert decision_of(trial(answers, **REDIS)).limit == "unexplained"


def test_requests_that_queue_at_a_pool_are_its_limit_though_its_answers_come_in_bursts():
    pool = waits("redis", cpu=0.97, client=63) | IDLE | IDLE_CLIENT
    said = decision_of(trial(pool | queue("redis", requests=30, answers=33, whole=64), clients=64, **REDIS))
    assert (said.limit, said.confidence) == ("server-queue", "low")
    said = decision_of(trial(pool | queue("redis", requests=10, answers=53, whole=64), clients=64, **REDIS))
    assert said.limit == "unexplained"


def test_tasks_that_a_server_says_are_queued_are_its_queue():
    reading = {"store.mariadb.read_tasks_pending": 12.0, "store.mariadb.read_tasks_active": 1.0}
    served = process("mariadb", cpu=0.6) | IDLE | IDLE_CLIENT
    assert decision_of(trial(served)).limit == "unexplained"
    said = decision_of(trial(served | reading))
    assert (said.limit, said.confidence, said.held) == ("server-queue", "high", pytest.approx(12))
    assert said.figures == ("mariadb had 12.0 read tasks queued for the threads that worked on 1.0",)
    assert decision_of(trial(served | {"store.mariadb.compaction_tasks_pending": 12.0})).limit == "unexplained"


def test_of_a_full_client_and_a_full_server_whose_queues_are_not_seen_the_figure_is_a_lower_bound():
    unseen = {name: value for name, value in LOOP.items() if not name.startswith("queue.")}
    said = decision_of(trial(unseen, cpu_s=1.9, **REDIS))
    assert (said.limit, said.runner_up) == ("client", "server-thread")


def test_a_full_host_is_its_own_limit_unless_the_server_or_another_process_fills_it():
    waiting = waits(cpu=1.4, cpu_wait=7, client=7) | process("client", cpu=0.4, queue=3) | queue(answers=6)
    said = decision_of(trial(waiting | process("mariadb", cpu=1.5, queue=7) | host(BUSY_HOST), cpu_s=0.4))
    assert (said.limit, said.confidence) == ("host-cpu", "high")
    assert said.signs == ("the host's 2 processors were full: mariadb 75%, the load client 20%, other processes 4%",)
    beside = process("mariadb", cpu=0.8, queue=7) | process("client", cpu=0.2, queue=3) | host(BUSY_HOST)
    assert decision_of(trial(waiting | beside)).limit == "neighbour"
    assert decision_of(trial(CPU)).limit == "server-cpu"


def test_a_pinned_client_that_waits_for_other_processes_is_not_the_limit():
    apart = {"client_cpus": [0], "server_cpus": [1]}
    waiting = waits(cpu=0.3, cpu_wait=2, client=13.7) | queue(answers=12)
    waiting |= process("mariadb", cpu=0.3, queue=2) | process("client", cpu=0.2, queue=0.8)
    threads = [(0.2, 0.8)]
    said = decision_of(trial(waiting | host(BUSY_HOST), cpu_s=0.2, threads=threads, **apart))
    assert (said.limit, said.confidence) == ("neighbour", "high")
    # The client itself is full: it stays the limit, whoever else is there.
    full = waiting | process("client", cpu=0.95, queue=0.05)
    assert decision_of(trial(full | host(BUSY_HOST), cpu_s=0.95, threads=[(0.95, 0.05)], **apart)).limit == "client"
    # It is alone on the host: what it waited for is not others'.
    alone = trial(waiting | host({**BUSY_HOST, "user": 0.5, "idle": 1.22}), cpu_s=0.2, threads=threads, **apart)
    assert decision_of(alone).limit == "client"


def test_a_figure_near_the_ceiling_alone_is_no_sign_of_the_client():
    answers = waits("redis", cpu=0.5, client=0.5) | IDLE | queue("redis", answers=13)
    said = decision_of(trial(answers, client_ceiling_per_s=1250.0, **REDIS))
    assert said.limit == "unexplained"
    said = decision_of(trial(answers, client_ceiling_per_s=1250.0, cpu_s=1.6, **REDIS))
    assert said.limit == "client" and "it reached 80% of the 1,250/s that its client reaches" in said.signs[0]


def test_a_client_that_is_held_back_queues_its_requests_in_bursts():
    bursts = waits("redis", cpu=0.3, other=0.7) | IDLE | queue("redis", requests=11)
    assert decision_of(trial(bursts, **REDIS)).limit == "server-queue"
    held_back = bursts | {"cgroup.client.throttled_s_total": 0.6}
    assert decision_of(trial(held_back, **REDIS)).limit == "client"


BURSTS = waits(cpu=0.5, cpu_wait=8, client=7.5) | IDLE | process("mariadb", cpu=0.5, queue=8) | queue(answers=7)
STOPPED = {"cgroup.client.throttled_s_total": 0.5}


def test_a_server_that_is_busy_in_the_bursts_of_a_stopped_client_is_not_the_limit():
    assert decision_of(trial(BURSTS | STOPPED)).limit == "client"
    seldom = {"cgroup.client.throttled_s_total": 0.06}
    assert decision_of(trial(BURSTS | seldom)).limit == "server-cpu"


FULL_LOG = {
    "store.mariadb.innodb_checkpoint_age_bytes": 3.2 * 2**20,
    "store.mariadb.innodb_checkpoint_max_age_bytes": 3.5 * 2**20,
    "store.mariadb.innodb_pages_flushed_total": 280,
}


WAITS_TO_LOG = (
    waits("postgresql", lock=9, commit=6, cpu=1)
    | IDLE
    | {
        "locks.postgresql.locks": 0.0,
        "locks.postgresql.latches": 9.0,
        "locks.postgresql.LWLock:WALInsert": 8.0,
    }
)
POSTGRESQL = {"servers": [{"name": "postgresql"}]}


def test_writers_that_wait_to_log_while_its_size_forces_checkpoints_wait_for_these():
    said = decision_of(trial(WAITS_TO_LOG | {"store.postgresql.checkpoints_requested_total": 0.05}, **POSTGRESQL))
    assert (said.limit, said.confidence) == ("checkpoint", "high")
    waited = "8.0 waited to write to the log of postgresql (LWLock:WALInsert)"
    assert said.signs == (f"{waited}, whose size forced a checkpoint every 20 s",)


def test_writers_that_wait_to_write_to_a_log_on_a_slow_disk_wait_for_commits():
    said = decision_of(trial(WAITS_TO_LOG | PRESSURE, **POSTGRESQL))
    assert (said.limit, said.confidence, said.held) == ("commit", "high", pytest.approx(15))
    assert said.signs[0] == "8.0 waited to write to the log of postgresql (LWLock:WALInsert)"
    assert said.runner_up == "server-cpu"


def test_a_latch_is_a_lock_unless_it_is_of_the_log_and_checkpoints_are_forced():
    assert decision_of(trial(WAITS_TO_LOG, **POSTGRESQL)).limit == "lock"
    forced = {"store.postgresql.checkpoints_requested_total": 0.05}
    other = {name.replace("WALInsert", "BufferContent"): value for name, value in WAITS_TO_LOG.items()}
    assert decision_of(trial(other | forced, **POSTGRESQL)).limit == "lock"
    few = WAITS_TO_LOG | {"locks.postgresql.LWLock:WALInsert": 2.0}
    assert decision_of(trial(few | forced, **POSTGRESQL)).limit == "lock"


def test_an_engine_that_flushes_or_reads_again_is_named_for_that():
    said = decision_of(trial(CPU | FULL_LOG))
    assert (said.limit, said.confidence, said.runner_up) == ("checkpoint", "high", None)
    evicted = {
        "cgroup.mariadb.memory_bytes": 64 * 2**20,
        "cgroup.mariadb.memory_limit_bytes": 64 * 2**20,
        "cgroup.mariadb.refaulted_pages_total": 500,
    }
    assert decision_of(trial(CPU | evicted)).limit == "memory"
    assert decision_of(trial(waits(lock=15, commit=1) | IDLE | FULL_LOG)).limit == "lock"
    stalling = trial(waits(other=15, cpu=1) | IDLE | FULL_LOG, completed=np.where(STALLED, 0, 1000))
    assert decision_of(stalling).limit == "checkpoint"


def beside_others(server_cpu, **states):
    """Columns of a full host that the server, with so many processors, and its client share with other processes."""
    own = process("mariadb", cpu=server_cpu, queue=7) | process("client", cpu=0.2, queue=3)
    return waits(**states) | own | host(BUSY_HOST)


AT_WORK = {"cpu": 1.4, "cpu_wait": 13, "client": 1.6}


@pytest.mark.parametrize(
    ("server_cpu", "states", "limit"),
    [
        (0.9, AT_WORK, "checkpoint"),
        (0.5, AT_WORK, "neighbour"),
        (0.5, {"cpu": 1, "cpu_wait": 2, "other": 13}, "checkpoint"),
    ],
    ids=["half of the host is left", "less is left", "few operations lacked a processor"],
)
def test_others_hide_the_engines_limit_only_if_they_took_the_processors_that_operations_lacked(
    server_cpu, states, limit
):
    columns = beside_others(server_cpu, **states)
    assert decision_of(trial(columns)).limit == "neighbour"
    said = decision_of(trial(columns | FULL_LOG))
    assert said.limit == limit
    assert said.confidence == ("high" if limit == "neighbour" else "medium")


def test_a_rate_that_was_followed_is_all_that_was_asked_for():
    assert decision_of(trial(CPU, offered=1000)).limit == "rate"
    assert decision_of(trial(CPU, offered=2000)).limit == "server-cpu"


STALLED = np.isin(np.arange(11), (3, 4, 8))


def test_long_stalls_that_nothing_explains_come_before_what_limits_the_rest():
    # Samples stand in the middle of a second, so three that are not there leave two seconds dark.
    dark = np.where(np.isin(np.arange(13), (4, 5, 6, 9, 10)), np.nan, 1.0)
    columns = {name: value * dark for name, value in CPU.items() if name.startswith("waits.")} | IDLE
    said = decision_of(trial(columns, completed=np.where(STALLED, 0, 1000)))
    assert (said.limit, said.confidence, said.runner_up) == ("stalls", "low", "server-cpu")
    assert said.signs == ("throughput stalled in 3 of 10 s; no observation explains it",)
    assert decision_of(trial(columns, completed=np.where(STALLED, 500, 1000))).limit == "server-cpu"


def test_requests_that_lie_unread_while_nothing_is_done_are_a_stall():
    at = np.isin(np.arange(13), (4, 5, 6, 9, 10))
    idle = {name: np.where(at, 0.0, value) for name, value in CPU.items() if name.startswith("waits.")}
    unread = idle | {"waits.mariadb.client": np.where(at, 16.0, 0.5)} | queue(requests=np.where(at, 16.0, 0.0)) | IDLE
    said = decision_of(trial(unread, completed=np.where(STALLED, 0, 1000)))
    assert said.limit == "stalls"
    at_work = {name: value for name, value in unread.items() if name != "waits.mariadb.cpu"} | {"waits.mariadb.cpu": 2}
    said = decision_of(trial(at_work, completed=np.where(STALLED, 0, 1000)))
    assert said.limit != "stalls"


def stalls(share, longest_ms):
    return Stalls(10.0, 10.0, 50, longest_ms, share, (), ())


@pytest.mark.parametrize(
    ("columns", "share", "longest_ms", "limit"),
    [
        (waits(cpu=2, client=14) | IDLE | queue(requests=13), 0.2, 30.0, "stalls"),
        (waits(cpu=8, client=8) | IDLE, 0.2, 30.0, "stalls"),
        (waits(cpu=8, client=8) | IDLE, 0.04, 30.0, "server-cpu"),
        (CPU, 0.2, 30.0, "server-cpu"),
        (BURSTS | STOPPED, 0.5, 84.0, "client"),
        (waits(lock=12, cpu=4) | IDLE, 0.2, 30.0, "lock"),
        (waits(cpu=8, client=8) | IDLE, 0.2, 11.0, "server-cpu"),
    ],
    ids=["queued", "at work in between", "hardly any", "full", "a stopped client", "for locks", "as long as usual"],
)
def test_stalls_under_a_second_are_named_where_nothing_else_is(columns, share, longest_ms, limit):
    said = stalling(columns, share, longest_ms)
    assert said.limit == limit
    if limit == "stalls":
        (sign,) = said.signs
        assert sign == "nothing was completed for 20% of the time: 5 stalls/s of 10 ms or more, the longest 30 ms"


def test_stalls_of_a_thread_that_works_in_between_are_named_unless_it_is_full():
    at_work = waits("redis", cpu=0.7, other=0.3) | IDLE | IDLE_CLIENT | queue("redis", requests=12)
    assert decision_of(trial(at_work, **REDIS)).limit == "server-thread"
    assert stalling(at_work, 0.3, 30.0, **REDIS).limit == "stalls"
    assert stalling(at_work | thread("redis-server", 0.95), 0.3, 30.0, **REDIS).limit == "server-thread"


def stalling(columns, share, longest_ms, **about):
    """Return the decision on a trial with stalls, whose median transaction takes 4 ms."""
    made = trial(columns, **about)
    usual = Histogram(np.array([bucket_index(4_000_000)]), np.array([1000]), 1000, 4_000_000_000, 4_000_000, 4_000_000)
    recorded = replace(made.recorded, service_time=usual)
    recorded.__dict__["stalls"] = stalls(share, longest_ms)
    object.__setattr__(made, "recorded", recorded)
    return decision_of(made)


def test_stalls_of_a_known_cause_are_not_unknown():
    assert decision_of(trial(waits(disk=15, cpu=1), completed=np.where(STALLED, 0, 1000))).limit == "disk"


def test_an_open_loops_stalls_without_anything_in_flight_explain_nothing():
    said = decision_of(trial(waits(disk=4), offered=2000, completed=np.where(STALLED, 0, 1000)))
    assert said.limit == "disk"


def tried(limit, followed):
    return Confirmation(limit, 0.2, Followed("less", 1000.0, 1000.0 * (1 - 0.2 * followed), followed))


@pytest.mark.parametrize(
    ("confirmation", "confidence"),
    [
        (tried("disk", 0.9), "high"),
        (tried("disk", 0.1), "low"),
        (tried("disk", 0.3), "medium"),
        (tried("disk", 2.1), "medium"),
        (Confirmation("disk", 0.2, None, why_not="no rights"), "medium"),
        (tried("server-cpu", 0.1), "medium"),
    ],
)
def test_what_came_of_taking_some_of_it_away_decides_how_sure_it_is(confirmation, confidence):
    made = trial(waits(disk=12, cpu=2, client=2) | IDLE)
    confirmed = replace(made, confirmation=confirmation)
    object.__setattr__(confirmed, "observations", made.observations)
    assert decision_of(confirmed).confidence == confidence


def test_a_network_delay_that_was_asked_for_is_named_with_it():
    decision = decision_of(trial(waits(cpu=1, client=15) | IDLE_CLIENT | queue(whole=0), network_delay_us=14_900))
    assert (decision.limit, decision.confidence) == ("network", "high")
    assert decision.signs == ("14.9 waited for the injected delay of 14,900 µs before each request",)
