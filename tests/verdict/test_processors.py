"""A full processor is named: a quota, a thread, a pinned server, the host, or another process on it."""

import pytest

from dbdyno.verdict.evidence import Measured
from dbdyno.verdict.processors import Consumers, full_processors, taken_threads

from .made import BUSY_HOST, IDLE_HOST, host, process, thread, trial, waits

CLIENT = process("client", cpu=0.2, queue=0.3)
REDIS = {"servers": [{"name": "redis"}]}


def full(columns, **about):
    limit = full_processors(Measured.of(trial(columns, **about)))
    return (limit.limit, limit.signs) if limit else None


def test_a_quota_goes_before_everything():
    held = process("mariadb", cpu=0.5, queue=2) | CLIENT | {"cgroup.mariadb.throttled_s_total": 0.4} | host(BUSY_HOST)
    limit, signs = full(held)
    assert limit == "server-cpu"
    assert signs == ("a CPU quota throttled mariadb for 0.40 s in every second, at 0.50 processors",)


@pytest.mark.parametrize(
    ("server", "client", "states", "limit"),
    [
        (1.75, 0.2, BUSY_HOST, "server-cpu"),
        (1.5, 0.4, BUSY_HOST, "host-cpu"),
        (1.0, 0.2, BUSY_HOST, "neighbour"),
        (1.0, 0.2, {"user": 1.4, "system": 0.1, "iowait": 0.0, "steal": 0.45, "idle": 0.05}, "neighbour"),
        (1.5, 0.4, IDLE_HOST, None),
    ],
    ids=["server", "both", "another process", "the hypervisor", "idle"],
)
def test_a_full_host_is_filled_by_somebody(server, client, states, limit):
    columns = process("mariadb", cpu=server, queue=3) | process("client", cpu=client, queue=0.3) | host(states)
    assert (full(columns) or (None,))[0] == limit


def test_a_full_host_that_nobody_waits_for_limits_nothing():
    unwaited = process("mariadb", cpu=1.7, queue=0.1) | process("client", cpu=0.2, queue=0.1)
    assert full(unwaited | host(BUSY_HOST)) is None


def test_each_consumer_is_said_with_its_share():
    began = {"started_unix_s": 1000.0, "ended_unix_s": 1010.0, "observer_cpu_s": 0.4}
    columns = process("mariadb", cpu=1.0, queue=3) | process("client", cpu=0.2) | host(BUSY_HOST)
    consumers = Consumers.of(Measured.of(trial(columns, **began)))
    assert consumers.words() == (
        "the host's 2 processors were full: "
        "mariadb 50%, the load client 10%, dbdyno's observers 2%, other processes 37%"
    )
    assert Consumers.of(Measured.of(trial(process("mariadb", cpu=1.0) | host(BUSY_HOST)))) is None


def test_one_full_thread_is_named_also_with_idle_helpers_around_it():
    seen = thread("redis-server", 0.9, 0.06) | thread("bio_close_file", 0.01) | host(IDLE_HOST)
    assert full(seen, **REDIS) == (
        "server-thread",
        ("its thread 'redis-server' was busy 96% of the time (90% on a CPU)",),
    )
    assert full(thread("redis-server", 0.8, 0.05) | host(IDLE_HOST), **REDIS) is None
    assert full(seen, clients=1, **REDIS) is None


def test_no_operation_waits_for_a_java_machine_that_compiles_its_code():
    assert full(thread("C2 CompilerThre", 0.9, 0.06) | host(IDLE_HOST), **REDIS) is None


def test_a_thread_that_mostly_waits_is_full_only_if_the_host_is_not():
    waiting = thread("redis-server", 0.5, 0.45) | process("redis", cpu=0.5, queue=0.5) | process("client", 0.7, 0.6)
    assert full(waiting | host(IDLE_HOST), **REDIS)[0] == "server-thread"
    assert full(waiting | host(BUSY_HOST), **REDIS)[0] == "neighbour"


def test_a_thread_for_each_operation_queues_none():
    assert full(thread("mariadbd", 0.95, server="mariadb") | waits(cpu=1, client=15) | host(IDLE_HOST)) is None


def test_a_server_with_tasks_queued_for_its_threads_has_none_for_each_operation():
    pool = thread("mariadbd", 0.99, server="mariadb") | waits(cpu=1, client=15) | host(IDLE_HOST)
    assert full(pool | {"store.mariadb.request_tasks_pending": 0.2}) is None
    limit, signs = full(pool | {"store.mariadb.request_tasks_pending": 9.0})
    assert (limit, signs) == ("server-thread", ("its thread 'mariadbd' was busy 99% of the time (99% on a CPU)",))


def test_a_pool_of_threads_is_full_as_a_whole():
    pool = waits("memcached", cpu=3, cpu_wait=0.9, client=0.1) | host(IDLE_HOST)
    assert full(pool, servers=[{"name": "memcached"}]) == (
        "server-thread",
        ("its 4 serving threads were busy 98% of the time",),
    )


def test_a_pool_of_which_mostly_one_thread_works_is_described_as_that():
    pool = waits("memcached", cpu=1.1, client=0.1) | host(IDLE_HOST)
    assert full(pool, servers=[{"name": "memcached"}])[1] == (
        "its serving threads, mostly one, were busy 92% of the time",
    )


def taken(**states):
    return [limit for limit, _ in taken_threads(Measured.of(trial(waits("redis", **states), **REDIS)))]


def test_few_threads_that_are_never_idle_are_the_limit_or_what_they_mostly_wait_for_is():
    assert taken(cpu=0.1, commit=0.85, client=0.05) == ["commit"]
    assert taken(cpu=0.3, disk=0.65, client=0.05) == ["disk"]
    assert taken(cpu=0.57, commit=0.2, other=0.23) == ["server-thread"]
    flushing = Measured.of(trial(waits("redis", cpu=0.1, commit=0.85, client=0.05), **REDIS))
    assert list(taken_threads(flushing)) == [
        (
            "commit",
            "the threads of redis that serve clients were idle 5% of the time, "
            "at work 10%, in a flush 85% and waiting for the disk 0%",
        )
    ]


@pytest.mark.parametrize(
    "states",
    [
        {"cpu": 0.1, "commit": 0.7, "client": 0.2},
        {"cpu": 0.4, "commit": 0.05, "other": 0.55},
        {"commit": 15, "cpu": 0.5, "client": 0.5},
        {},
    ],
    ids=["idle at times", "too little is known", "a thread for each operation", "nothing observed"],
)
def test_else_nothing_queues_for_what_its_threads_do(states):
    assert taken(**states) == []


def test_a_pinned_server_fills_its_own_processors():
    pinned = process("mariadb", cpu=0.95, queue=5) | CLIENT | host(IDLE_HOST)
    limit, signs = full(pinned, server_cpus=[1])
    assert (limit, signs) == ("server-cpu", ("it used 0.95 of the processor it is pinned to; 5.0 threads waited",))
    assert full(pinned, server_cpus=[0, 1]) is None


def test_a_pool_on_full_processors_needs_no_thread_that_waits():
    brimming = process("mariadb", cpu=0.99) | CLIENT | host(IDLE_HOST)
    assert full(brimming, server_cpus=[1]) == ("server-cpu", ("it used 0.99 of the processor it is pinned to",))
    assert full(process("mariadb", cpu=0.95) | CLIENT | host(IDLE_HOST), server_cpus=[1]) is None


def pinned_to(side, work, idle):
    """Columns of the processors that a side is pinned to."""
    return {f"host.{side}_cpus_work_s_total": work, f"host.{side}_cpus_idle_s_total": idle}


def test_other_processes_on_the_processors_of_one_side_are_named():
    apart = {"client_cpus": [0], "server_cpus": [1]}
    served = process("mariadb", cpu=0.2, queue=8) | process("client", cpu=0.1, queue=0.1) | host(IDLE_HOST)
    sides = pinned_to("client", 0.1, 0.9) | pinned_to("server", 0.98, 0.02)
    others = "others used 78% of the processors that the server is pinned to; 8.0 of its threads waited"
    assert full(served | sides, **apart) == ("neighbour", (others,))
    assert full(served | pinned_to("server", 0.5, 0.5), **apart) is None
    # Hardly anything of its processor was given to it: what idled was of no use.
    starved = process("mariadb", cpu=0.02, queue=8.8) | process("client", cpu=0.0) | host(IDLE_HOST)
    others = "others used 60% of the processors that the server is pinned to; 8.8 of its threads waited"
    assert full(starved | pinned_to("server", 0.62, 0.38), **apart) == ("neighbour", (others,))
    # Others used far more of its processor than it did, so it waited for them, although some time was idle.
    waited = process("mariadb", cpu=0.02) | process("client", cpu=0.13, queue=0.61) | host(IDLE_HOST)
    others = "others used 60% of the processors that the load client is pinned to; 0.6 of its threads waited"
    assert full(waited | pinned_to("client", 0.73, 0.27), **apart) == ("neighbour", (others,))
    beside = process("mariadb", cpu=0.02) | process("client", cpu=0.3, queue=0.61) | host(IDLE_HOST)
    assert full(beside | pinned_to("client", 0.73, 0.27), **apart) is None
    assert full(process("mariadb", cpu=0.2) | CLIENT | host(IDLE_HOST) | sides, **apart) is None
    waiting = process("mariadb", cpu=0.2) | process("client", cpu=0.3, queue=0.7) | host(IDLE_HOST)
    others = "others used 69% of the processors that the load client is pinned to; 0.7 of its threads waited"
    assert full(waiting | pinned_to("client", 0.99, 0.01), **apart) == ("neighbour", (others,))


def test_on_shared_processors_the_other_side_is_no_other_process():
    shared = {"client_cpus": [1], "server_cpus": [1]}
    served = process("mariadb", cpu=0.6, queue=8) | process("client", cpu=0.38, queue=1) | host(IDLE_HOST)
    assert full(served | pinned_to("server", 0.99, 0.01), **shared) is None


def test_a_client_on_another_host_shares_no_processor_of_the_same_number():
    hosts = [{"name": "c1", "role": "client", "machine": "a"}, {"name": "s1", "role": "server", "machine": "b"}]
    served = process("mariadb", cpu=0.2, queue=8) | host(IDLE_HOST) | pinned_to("server", 0.98, 0.02)
    limit, (sign,) = full(served, client_cpus=[1], server_cpus=[1], hosts=hosts)
    assert limit == "neighbour" and "others used 78% of the processors that the server is pinned to" in sign


def test_an_embedded_store_fills_the_host_with_its_client():
    embedded = {"servers": [{"name": "sqlite"}], "embedded": True}
    columns = process("client", cpu=1.9, queue=4) | host(BUSY_HOST)
    limit, signs = full(columns, **embedded)
    assert limit == "server-cpu" and "the store in its load client 95%" in signs[0]
    beside = process("client", cpu=0.1, queue=1) | host(BUSY_HOST)
    assert full(beside, **embedded)[0] == "neighbour"
