"""The sentences that say how stores came back after a restart."""

from dbdyno.report.warm_up_answer import by_restart


def trial(label, seconds, first=100.0, warm=1000.0):
    warm_up = {"answered_s": 0.1, "first_per_s": first, "seconds": seconds, "warm_per_s": warm}
    return {"label": label, "seconds": 20.0, "warm_up": warm_up}


def test_each_system_has_medians_and_the_range_of_its_times():
    trials = [
        *(trial("cold", seconds, first) for seconds, first in ((7, 100.0), (2, 300.0), (None, 200.0))),
        *(trial("reloaded", 0, 900.0) for _ in range(2)),
    ]
    assert by_restart(trials) == [
        "cold: 200/s in the first second after the restart, 1,000/s warm, "
        "95 % of it after 7 s (2 s to more than 20 s).",
        "reloaded: 900/s in the first second after the restart, 1,000/s warm, 95 % of it after 0 s.",
    ]


def test_a_store_that_never_became_warm_took_longer_than_the_trial():
    assert by_restart([trial("cold", None)])[0].endswith("95 % of it after more than 20 s.")


def test_without_a_restart_and_of_many_systems_there_is_no_sentence():
    assert by_restart([{"label": "a", "seconds": 1.0, "warm_up": None}, {"label": "b", "seconds": 1.0}]) == []
    assert by_restart([trial(name, 1) for name in "abcde"]) == []
