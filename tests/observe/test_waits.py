"""The store's waits and the kernel's counts add up to as many as there are."""

import pytest

from dbdyno.observe.waits import STATES, combine, mean_of


def test_a_mean_counts_a_state_that_was_not_there_as_none():
    assert mean_of([{"cpu": 2, "lock": 4}, {"cpu": 4}]) == {"cpu": 3, "lock": 2}
    assert mean_of([]) == {}


def test_processor_time_is_the_kernels_and_the_rest_as_the_store_says():
    store_states = {"cpu": 6, "lock": 2, "commit": 4, "client": 4}
    states = combine(store_states, {"disk": 1.5, "client": 9}, 0.5, 2.5)
    assert states == pytest.approx(
        {"cpu": 0.5, "cpu_wait": 2.5, "disk": 1.5, "lock": 2, "commit": 4, "client": 4, "other": 1.5}
    )
    assert set(states) == set(STATES)


def test_what_is_exact_takes_from_those_said_to_be_idle():
    states = combine({"cpu": 0, "client": 4}, {}, 1.0, 1.0)
    assert (states["cpu"], states["cpu_wait"], states["client"], states["other"]) == (1, 1, 2, 0)


def test_there_are_never_more_than_there_are():
    states = combine({"cpu": 1}, {"disk": 9}, 3.0, 9.0)
    assert states["cpu"] == 1 and sum(states.values()) == 1


def test_where_the_store_says_nothing_its_threads_do():
    states = combine({}, {"cpu": 1, "client": 3, "commit": 0.5}, 0.75, 0.25)
    assert states == pytest.approx(
        {"cpu": 0.75, "cpu_wait": 0.25, "disk": 0, "lock": 0, "commit": 0.5, "client": 3, "other": 0}
    )


def test_of_threads_those_on_their_way_from_a_lock_to_a_processor_are_told_last():
    states = combine({}, {"lock": 7, "commit": 1}, 1.0, 2.0)
    assert (states["commit"], states["lock"], states["other"]) == (1, 4, 0)


def test_where_the_kernel_says_nothing_at_work_is_at_work():
    states = combine({"cpu": 3, "lock": 1, "client": 4}, {}, None, None)
    assert states == {"cpu": 3, "disk": 0, "lock": 1, "commit": 0, "client": 4, "other": 0}


def test_where_nothing_is_known_nothing_is_said():
    assert combine({}, {}, 0.5, 0.5) == {}
