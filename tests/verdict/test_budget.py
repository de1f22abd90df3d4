"""The bands add up to what is in flight, and what nobody saw stays unexplained."""

import numpy as np
import pytest

from dbdyno.verdict.budget import BAND_NAMES, time_budget

from .made import process, queue, trial, waits

RELAY = queue(whole=0)


def bands(made):
    budget = time_budget(made)
    assert sum(budget.bands.values()) == pytest.approx(budget.in_flight)
    assert tuple(budget.per_second) == tuple(budget.bands) == BAND_NAMES
    assert sum(budget.per_second.values()) == pytest.approx(np.full(11, 16.0))
    return {name: value for name, value in budget.bands.items() if value > 0.01}


def test_where_the_store_shows_its_waits_the_rest_is_in_the_client_or_on_its_way():
    observed = waits(cpu=1, cpu_wait=2, disk=3, lock=4, commit=2.5, client=3.5) | process("client", cpu=0.1, queue=0.2)
    seen = {"server_cpu": 1, "server_cpu_wait": 2, "disk": 3, "lock": 4, "commit": 2.5, "client_cpu": 0.1}
    between = {"client_cpu_wait": 0.2, "network": 3.2}
    assert bands(trial(observed | queue(answers=0.2, in_transit=3.2))) == pytest.approx(seen | between)
    assert bands(trial(observed | RELAY | queue(whole=0, answers=0.2))) == pytest.approx(seen | between)
    unseen = {"client_cpu_wait": 0.2, "unexplained": 3.2}
    assert bands(trial(observed)) == pytest.approx(seen | unseen)


def test_what_has_arrived_and_is_unread_queues_in_front_of_the_server():
    pool = waits(cpu=1, client=15) | process("client", cpu=0.1)
    assert bands(trial(pool | queue(requests=14))) == pytest.approx(
        {"server_cpu": 1, "server_queue": 14, "client_cpu": 0.1, "unexplained": 0.9}
    )
    waking = waits(cpu=1, cpu_wait=6, client=9) | process("client", cpu=0.1)
    assert bands(trial(waking | queue(requests=6)))["unexplained"] == pytest.approx(8.9)


def test_what_an_event_loop_has_read_and_not_answered_is_in_its_queue():
    loop = waits("redis", cpu=0.9, client=0.1) | process("client", cpu=0.1)
    made = trial(loop | queue("redis", requests=8, answers=2), servers=[{"name": "redis"}])
    assert bands(made) == pytest.approx(
        {"server_cpu": 0.9, "client_cpu": 0.1, "client_cpu_wait": 2, "server_queue": 13}
    )
    behind_a_relay = trial(loop | queue("redis", requests=8, answers=2, whole=0), servers=[{"name": "redis"}])
    assert bands(behind_a_relay)["unexplained"] == pytest.approx(5)


def test_what_a_loop_has_read_while_it_flushes_waits_for_the_flush():
    loop = waits("redis", cpu=0.2, commit=0.6, disk=0.2) | process("client", cpu=0.1)
    made = trial(loop | queue("redis", requests=2, answers=1), servers=[{"name": "redis"}])
    seen = {"server_cpu": 0.2, "commit": 0.6 + 0.6 * 11.9, "disk": 0.2 + 0.2 * 11.9, "client_cpu": 0.1}
    assert bands(made) == pytest.approx(seen | {"client_cpu_wait": 1, "server_queue": 2 + 0.2 * 11.9})
    idle = waits("redis", cpu=0.1, commit=0.3, client=0.6) | process("client", cpu=0.1) | queue("redis")
    assert bands(trial(idle, servers=[{"name": "redis"}]))["unexplained"] == pytest.approx(15.5)


def test_tasks_that_write_while_a_thread_of_the_servers_own_flushes_the_log_wait_for_that():
    pool = process("mariadb", cpu=0.5) | process("client", cpu=0.1) | {"store.mariadb.write_tasks_active": 10.0}
    assert "commit" not in bands(trial(pool))
    assert bands(trial(pool | {"log.mariadb.flushing": 0.9})) == pytest.approx(
        {"server_cpu": 0.5, "commit": 9.0, "client_cpu": 0.1, "unexplained": 6.4}
    )


def empty_trip(took_s):
    return {"queue.mariadb.empty_round_trip_s": took_s}


def test_a_relay_whose_sockets_are_observed_has_what_an_empty_request_shows():
    idle = waits(cpu=1, client=15) | process("client", cpu=0.1) | queue()
    assert bands(trial(idle))["unexplained"] == pytest.approx(14.9)
    assert bands(trial(idle | empty_trip(0.0019)))["unexplained"] == pytest.approx(14.9)
    # A thousand operations a second.
    far = {"server_cpu": 1, "client_cpu": 0.1, "network": 12.0, "unexplained": 2.9}
    assert bands(trial(idle | empty_trip(0.012))) == pytest.approx(far)
    assert bands(trial(idle | empty_trip(0.04)))["network"] == pytest.approx(14.9)
    # Nobody knows what a server does that does not show it.
    unknown = process("mariadb", cpu=0.1) | process("client", cpu=0.1) | queue() | empty_trip(0.04)
    assert "network" not in bands(trial(unknown))


def test_the_way_to_another_host_holds_operations_for_a_round_trip():
    far = {"queue.mariadb.unread_answers": 0.0, "queue.mariadb.min_rtt_s": 0.004}
    assert bands(trial(process("client", cpu=0.1) | far)) == pytest.approx(
        {"client_cpu": 0.1, "network": 4.0, "unexplained": 11.9}
    )


def client_host(name, clients, round_trip_us):
    return {"name": name, "clients": {"count": clients}, "network": {"round_trip_us": round_trip_us}}


def test_the_way_between_hosts_holds_operations_for_the_round_trips_that_the_client_hosts_measured():
    hosts = [client_host("c1", 12, 2000.0), client_host("c2", 4, 6000.0), {"name": "s1", "role": "server"}]
    there = waits(cpu=1, client=15) | {"queue.mariadb.unread_requests": 0.0}
    seen = {"server_cpu": 1, "client_cpu": 0.1, "network": 3.0, "unexplained": 11.9}
    assert bands(trial(there | process("client", cpu=0.1), hosts=hosts)) == pytest.approx(seen)


def test_without_a_measured_round_trip_the_network_between_hosts_is_not_named():
    hosts = [{"name": "c1", "clients": {"count": 16}, "network": None}, {"name": "s1", "role": "server"}]
    there = waits(cpu=1, client=15) | process("client", cpu=0.1) | {"queue.mariadb.unread_requests": 0.0}
    assert "network" not in bands(trial(there, hosts=hosts))
    # On one host the same is between the two.
    assert bands(trial(there))["network"] == pytest.approx(14.9)


def test_a_pipelines_socket_holds_all_of_its_transactions():
    made = trial(process("client", cpu=0.1) | queue(requests=3, whole=0), clients=4, pipeline=4)
    assert bands(made)["server_queue"] == pytest.approx(12)


def test_a_network_delay_that_was_asked_for_is_the_network_whoever_tells():
    made = trial(process("mariadb", cpu=0.9) | process("client", cpu=0.1), network_delay_us=4000)
    assert bands(made)["network"] == pytest.approx(4.0)
    made = trial(waits(cpu=1, client=15) | process("client", cpu=0.1) | RELAY, network_delay_us=4000)
    assert bands(made)["network"] == pytest.approx(14.9)
    made = trial(waits(cpu=16) | process("client", cpu=0.1), network_delay_us=4000)
    assert bands(made) == pytest.approx({"server_cpu": 12.0, "network": 4.0})


def test_load_threads_that_never_idle_keep_every_answer_waiting():
    observed = waits(cpu=1, client=15) | process("client", cpu=0.2, queue=1.7)
    assert bands(trial(observed, cpu_s=0.2)) == pytest.approx(
        {"server_cpu": 1, "client_cpu": 0.2, "client_cpu_wait": 14.8}
    )


def test_between_an_idle_client_and_one_that_never_is_nobody_can_tell():
    observed = waits(cpu=1, client=15) | process("client", cpu=0.2, queue=1.2) | RELAY
    assert bands(trial(observed, cpu_s=0.2))["unexplained"] == pytest.approx(14.8)


def test_else_by_what_the_kernel_counts_and_the_rest_is_unexplained():
    observed = process("mariadb", cpu=0.9, queue=0.3, io=2.0) | process("client", cpu=0.1)
    expected = {"server_cpu": 0.9, "server_cpu_wait": 0.3, "disk": 2, "client_cpu": 0.1, "unexplained": 12.7}
    assert bands(trial(observed)) == pytest.approx(expected)


def test_one_server_that_does_not_tell_leaves_the_rest_unexplained():
    observed = waits(cpu=1, client=15) | process("memcached", cpu=0.5)
    both = [{"name": "memcached"}, {"name": "mariadb"}]
    assert bands(trial(observed, servers=both)) == pytest.approx(
        {"server_cpu": 1.5, "client_cpu": 0.1, "unexplained": 14.4}
    )


def test_in_front_of_fewer_threads_than_operations_they_can_wait_unseen():
    assert bands(trial(waits(cpu=0.5, client=0.5)))["unexplained"] == pytest.approx(15.4)


def test_where_nothing_is_done_nobody_can_tell_a_stopped_server_from_the_network():
    stalled = np.where(np.isin(np.arange(11), (3, 4)), 0, 1000)
    seconds = time_budget(trial(waits(client=16) | RELAY, completed=stalled)).per_second
    assert [seconds["network"][second] for second in (2, 3)] == pytest.approx([15.9, 0])
    assert [seconds["unexplained"][second] for second in (2, 3)] == pytest.approx([0, 15.9])


def test_a_state_without_a_name_is_in_the_server_and_unexplained():
    expected = {"server_cpu": 1, "client_cpu": 0.1, "network": 9.9, "unexplained": 5}
    assert bands(trial(waits(cpu=1, other=5, client=10) | RELAY)) == pytest.approx(expected)


def test_without_a_server_all_is_in_the_client_or_unexplained():
    assert bands(trial(process("client", cpu=0.1), servers=[])) == pytest.approx(
        {"client_cpu": 0.1, "unexplained": 15.9}
    )


def test_nothing_observed_leaves_what_the_load_client_itself_recorded():
    assert bands(trial()) == pytest.approx({"client_cpu": 0.1, "unexplained": 15.9})


def test_seconds_in_which_nobody_answered_are_unexplained():
    silent = np.where(np.isin(np.arange(13), (6, 7, 8)), np.nan, 1.0)
    observed = {name: value * silent for name, value in waits(cpu=16).items()}
    dark = time_budget(trial(observed)).per_second["unexplained"]
    assert dark[6] == pytest.approx(15.9) and dark[3] == pytest.approx(0)


def test_more_than_is_in_flight_is_cut_to_that():
    assert bands(trial(waits(cpu=10, lock=10))) == pytest.approx({"server_cpu": 8, "lock": 8})


def test_an_embedded_store_works_in_the_clients_threads():
    observed = process("client", cpu=1.9, queue=4.0, io=0.5)
    expected = {"server_cpu": 1.9, "server_cpu_wait": 4, "disk": 0.5, "unexplained": 9.6}
    assert bands(trial(observed, cpu_s=1.9, servers=[], embedded=True)) == pytest.approx(expected)


def embedded(waiting, **about):
    observed = process("client", cpu=1.5, queue=0.5, io=0.5) | waits("client", **waiting)
    return trial(observed, cpu_s=1.5, servers=[], embedded=True, **about)


def test_what_an_embedded_store_waits_for_is_what_its_threads_stand_still_in():
    working = {"server_cpu": 1.5, "server_cpu_wait": 0.5}
    assert bands(embedded({"disk": 2, "lock": 5, "other": 3})) == pytest.approx(
        working | {"disk": 2, "lock": 5, "unexplained": 7}
    )


def test_who_waits_for_one_that_flushes_waits_for_the_flush():
    working = {"server_cpu": 1.5, "server_cpu_wait": 0.5}
    half = bands(embedded({"lock": 10, "commit": 0.5}))
    assert half == pytest.approx(working | {"lock": 5, "commit": 5.5, "unexplained": 3.5})
    always = bands(embedded({"lock": 10, "commit": 2}))
    assert always == pytest.approx(working | {"commit": 12, "unexplained": 2})


def test_in_an_open_loop_a_thread_without_work_stands_still_too():
    made = embedded({"lock": 10}, offered=1000)
    assert time_budget(made).bands["lock"] == 0 and time_budget(made).not_seen == ("lock", "commit")


def test_in_an_open_loop_what_is_in_flight_follows_from_littles_law():
    assert time_budget(trial(offered=1000)).in_flight == pytest.approx(4)


def test_in_an_open_loop_a_stall_is_in_flight_while_it_lasts():
    made = trial(waits(disk=16), offered=1000, completed=np.where(np.isin(np.arange(11), (4, 5)), 0, 1000))
    # All 16 clients waited for the two seconds, and their transactions end in the third.
    intervals = [
        interval._replace(service_s=36.0) if interval.second == 6 else interval for interval in made.recorded.intervals
    ]
    object.__setattr__(made.recorded, "intervals", tuple(intervals))
    budget = time_budget(made)
    assert sum(budget.per_second.values())[3:8] == pytest.approx([4, 4, 16, 16, 4])
    assert budget.per_second["disk"][5] == pytest.approx(16)


def test_a_second_that_was_cut_as_it_began_counts_for_nothing():
    made = trial(waits(cpu=16))
    cut = made.recorded.intervals[-1]._replace(second=11, seconds=0.0, completed=0)
    object.__setattr__(made.recorded, "intervals", (*made.recorded.intervals, cut))
    assert time_budget(made).bands["server_cpu"] == pytest.approx(16)


REFUSED = [{"band": "waits.mariadb.lock", "reason": "this user may not see transactions"}]
CLIENT = process("client")


@pytest.mark.parametrize(
    ("columns", "about", "not_seen"),
    [
        (waits(cpu=16) | CLIENT | RELAY, {}, ()),
        (waits(cpu=16) | CLIENT, {}, ("server_queue",)),
        (waits(cpu=16) | CLIENT | RELAY, {"not_seen": REFUSED}, ("lock",)),
        (waits(cpu=16) | RELAY, {}, ("client_cpu_wait",)),
        (process("mariadb", cpu=1) | CLIENT | RELAY, {}, ("lock", "commit")),
        (waits(cpu=16) | CLIENT, {"servers": [{"name": "mariadb"}, {"name": "dark"}]}, BAND_NAMES[3:9]),
        (process("client", cpu=1), {"servers": [], "embedded": True}, ("lock", "commit")),
        (process("client") | waits("client"), {"servers": [], "embedded": True}, ()),
        (None, {}, ("client_cpu_wait", *BAND_NAMES[3:9])),
    ],
    ids=[
        *("all", "no queue", "no lock", "no client", "kernel alone"),
        *("one of two servers", "embedded", "its threads", "nothing"),
    ],
)
def test_a_band_that_was_not_seen_is_told_from_one_that_is_nothing(columns, about, not_seen):
    assert time_budget(trial(columns, **about)).not_seen == not_seen


def test_nothing_measured_has_no_budget():
    assert time_budget(trial(completed=1)) is not None
    made = trial()
    object.__setattr__(made.recorded, "run_began_unix_s", None)
    assert time_budget(made) is None
