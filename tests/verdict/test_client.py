"""The client is the limit by its own records, and by other signs."""

import pytest

from dbdyno.stats.stalls import Stalls
from dbdyno.verdict.client import free_processors, load_threads, run_queue_threads, signs_of_client

from .made import host, process, trial

APART = {"client_cpus": [0], "server_cpus": [1]}


def of_two(idle):
    return host({"user": 2 - idle, "system": 0, "iowait": 0, "steal": 0, "idle": idle})


@pytest.mark.parametrize(
    ("waiting", "idle", "about", "said"),
    [
        (1.0, 1.0, {}, "waited for a processor 50% of the time"),
        (0.09, 1.0, {}, None),
        (1.0, 0.1, {}, None),
        (1.0, 0.1, APART, "waited for a processor 50% of the time"),
        (0.5, 1.0, {}, None),
        (0.04, 0.1, APART, None),
    ],
    ids=["alone", "hardly", "as the server", "on its own", "mostly asleep", "hardly on its own"],
)
def test_waiting_for_a_processor_counts_where_the_server_does_not_wait_too(waiting, idle, about, said):
    signs = signs_of_client(trial(process("client", queue=waiting) | of_two(idle), **about))
    assert (not signs) if said is None else said in signs[0]


def test_where_the_servers_threads_wait_as_long_the_processors_are_what_is_short():
    queues = process("client", queue=1.0) | process("mariadb", queue=1.0)
    assert not signs_of_client(trial(queues | of_two(1.0)))


def test_processors_that_are_idle_while_the_store_stalls_are_of_no_use_to_the_client():
    made = trial(process("client", queue=1.0) | of_two(0.6))
    assert signs_of_client(made)
    made.recorded.__dict__["stalls"] = Stalls(10.0, 10.0, 6, 300.0, 0.3, (), ())
    assert not signs_of_client(made)


@pytest.mark.parametrize(
    ("threads", "said"),
    [
        # Together they work or wait for 0.35 of the time, and wait for 0.08 of it; one of them for 0.3.
        ([(0.7, 0.3), (0.1, 0.01), (0.1, 0.0), (0.2, 0.01)], "one of its load threads waited for a processor 30%"),
        ([(0.7, 0.05), (0.1, 0.01), (0.1, 0.0), (0.2, 0.01)], None),
        ([(0.1, 0.3), (0.1, 0.3), (0.1, 0.3), (0.1, 0.3)], None),
        ([(0.4, 0.2), (0.4, 0.2), (0.4, 0.3), (0.4, 0.2)], "its load threads waited for a processor 30%"),
    ],
    ids=["one", "hardly", "mostly asleep", "all"],
)
def test_of_several_load_threads_the_one_that_waited_most_is_judged(threads, said):
    waiting = process("client", queue=sum(waited for _, waited in threads))
    signs = signs_of_client(trial(waiting | of_two(1.0), threads=threads))
    assert (not signs) if said is None else signs[0].startswith(said)


def test_a_quota_of_its_own_is_a_sign():
    (sign,) = signs_of_client(trial({"cgroup.client.throttled_s_total": 0.7}))
    assert sign == "a CPU quota throttled it for 0.70 s in every second"
    assert not signs_of_client(trial({"cgroup.client.throttled_s_total": 0.01}))


def test_what_it_recorded_itself_goes_first():
    both = signs_of_client(trial(process("client", queue=1.0) | of_two(1.0), cpu_s=1.9))
    assert len(both) == 2 and "95% busy" in both[0]


def test_an_embedded_store_is_its_own_client_and_a_rate_that_is_followed_is_nobodys():
    waiting = process("client", queue=1.0) | of_two(1.0)
    assert signs_of_client(trial(waiting, embedded=True)) == signs_of_client(trial(waiting, offered=1000)) == ()


def test_the_figures():
    made = trial(process("client", queue=1.0) | of_two(0.5))
    assert free_processors(made) == pytest.approx(0.25)
    assert run_queue_threads(made, ("client", "nobody")) == pytest.approx(1.0)
    assert load_threads(made) == 2
    assert free_processors(trial()) is run_queue_threads(made, ("nobody",)) is None
