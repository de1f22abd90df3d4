"""Pairs of trials, and what of them is more than chance."""

import numpy as np
import pytest

from dbdyno.report.why.evidence import Pairs, beyond_noise, time_us
from report.why.conftest import conclude


def test_pairs_are_the_repetitions_that_both_sides_have(pairs):
    def fail_one(label, _, trial):
        if label == "slow" and trial["repeat"] == 2:
            trial |= {"state": "failed", "reason": "it was killed"}

    paired = pairs(fail_one)
    assert [[trial.facts.repeat for trial in paired.side(which)] for which in (0, 1)] == [[1, 3, 4]] * 2
    assert {trial.label for trial in paired.side(0)} == {"fast"}


def test_a_transaction_is_in_flight_for_as_long_as_littles_law_says(pairs):
    paired = pairs()
    trial = paired.side(0)[0]
    assert time_us(trial) == pytest.approx(4e6 / trial.recorded.throughput_per_s)
    assert paired.time_us == pytest.approx(
        np.mean([time_us(trial) for trial in paired.side(1)]) - np.mean([time_us(trial) for trial in paired.side(0)])
    )
    assert paired.time_us > 0 and paired.log_time > 0
    assert Pairs(paired.compared, ()).time_us == 0


def test_chance_is_no_evidence_however_many_quantities_are_looked_at():
    rng = np.random.default_rng(3)
    runs = 200
    noise = {str(number): (rng.normal(0, 1, 5), rng.normal(0, 1, 5)) for number in range(40)}
    false_alarms = sum(
        bool(beyond_noise({name: (rng.permutation(a), rng.normal(0, 1, 5)) for name, (a, _) in noise.items()}))
        for _ in range(runs)
    )
    assert false_alarms <= 0.1 * runs
    noise["moved"] = ([1.0, 1.1, 0.9, 1.0, 1.0], [9.0, 9.1, 8.9, 9.2, 9.0])
    assert beyond_noise(noise) == ["moved"]


def test_what_is_the_same_in_every_trial_and_differs_is_evidence_and_one_pair_is_none():
    assert beyond_noise({"constant": ([1.0, 1.0], [2.0, 2.0]), "equal": ([1.0, 1.0], [1.0, 1.0])}) == ["constant"]
    assert beyond_noise({"one pair": ([1.0], [2.0])}) == []


def test_an_embedded_store_computes_in_the_client(pairs):
    def put(embedded):
        def put(label, folder, trial):
            trial["embedded"] = embedded
            conclude(folder, "server-cpu", server_cpu=1.0, server_cpu_wait=3.0)

        return put

    assert [pairs(put(embedded)).queue_factor("client") for embedded in (True, False)] == [4.0, 1.0]
