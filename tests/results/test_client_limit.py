"""A trial's figure is a lower bound of its store's for these reasons."""

import pytest

from dbdyno.results.client_limit import client_limited, saturated_client
from dbdyno.results.facts import TrialFacts
from dbdyno.results.model import LoadThread


class Recorded:
    """One measured second of 1000 transactions, and what the load client used in it."""

    def __init__(self, cpu_s=0.1, followed=None, threads=2, busy=()):
        self.hello, self.seconds, self.throughput_per_s = {"threads": threads, "processors": 2}, 1.0, 1000.0
        self.followed = followed
        self.load_threads = [LoadThread(share, None) for share in busy]
        self.measured = [type("Interval", (), {"client_cpu_s": cpu_s})]


@pytest.mark.parametrize(
    ("recorded", "about", "said"),
    [
        (Recorded(), {"client_ceiling_per_s": 1000 / 0.74}, None),
        (Recorded(), {"client_ceiling_per_s": 1000 / 0.76}, None),
        (Recorded(1.6), {"client_ceiling_per_s": 1000 / 0.76}, "it reached 76% of the 1,316/s"),
        (Recorded(1.2, threads=4, busy=(0.8,)), {"client_ceiling_per_s": 1000 / 0.76}, "it reached 76%"),
        (Recorded(), {"client_ceiling_per_s": 1000 / 1.11}, None),
        (Recorded(1.79), {}, None),
        (Recorded(1.81), {}, "its load threads were 90% busy"),
        (Recorded(0.91), {"client_cpus": [0]}, "91% busy"),
        (Recorded(1.81, threads=8), {}, "its load threads were 90% busy"),
        (Recorded(0.91, threads=1), {}, "91% busy"),
        (Recorded(1.9), {"client_ceiling_per_s": 1000}, "a null server and its load threads were 95% busy"),
        (Recorded(1.9, followed=True), {"client_ceiling_per_s": 1000}, None),
        (Recorded(1.9, followed=False), {"client_ceiling_per_s": 1000}, "100%"),
        (Recorded(), {}, None),
        (Recorded(1.2, threads=4, busy=(0.1, 0.91, 0.1, 0.09)), {}, "the busiest of its 4 load threads was 91% busy"),
        (Recorded(1.2, threads=4, busy=(0.1, 0.89, 0.1, 0.11)), {}, None),
        (Recorded(1.81, busy=(0.91, 0.9)), {}, "its load threads were 90% busy"),
        (Recorded(1.2, followed=True, threads=4, busy=(0.1, 0.91, 0.1, 0.09)), {}, None),
    ],
)
def test_the_signs(recorded, about, said):
    evidence = client_limited(recorded, TrialFacts.read(about), embedded=False)
    assert evidence is None if said is None else said in evidence


@pytest.mark.parametrize(
    ("recorded", "ceiling", "said"),
    [
        (Recorded(1.9), None, "its load threads were 95% busy"),
        (Recorded(1.6), 1000 / 0.89, None),
        (Recorded(1.6), 1000 / 0.91, "it reached 91% of the 1,099/s"),
        (Recorded(1.9, followed=True), None, None),
    ],
)
def test_a_client_is_saturated_only_with_next_to_nothing_to_spare(recorded, ceiling, said):
    sign = saturated_client(recorded, TrialFacts.read({"client_ceiling_per_s": ceiling}), embedded=False)
    assert sign is None if said is None else sign.startswith(said)


def test_an_embedded_store_is_its_own_client():
    assert saturated_client(Recorded(2.0), TrialFacts(), embedded=True) is None
    assert client_limited(Recorded(2.0), TrialFacts(), embedded=True) is None


def client(name, threads, processors=2):
    return {"name": name, "load_threads": threads, "processors": processors}


@pytest.mark.parametrize(
    ("busy", "said"),
    [
        ((0.2, 0.1, 0.95, 0.93), "the load threads on c2 were 94% busy, so the store may do more"),
        ((0.2, 0.1, 0.95, 0.5), "the busiest load thread on c2 was 95% busy, so the store may do more"),
        ((0.95, 0.9, 0.95, 0.93), "the load threads on c1 were 92% busy and the load threads on c2 were 94% busy"),
        ((0.2, 0.1, 0.85, 0.5), None),
    ],
)
def test_a_busy_client_host_is_named(busy, said):
    facts = TrialFacts.read({"hosts": [client("c1", 2), client("c2", 2), {"name": "s1", "role": "server"}]})
    evidence = client_limited(Recorded(sum(busy), threads=4, busy=busy), facts, embedded=False)
    assert evidence is None if said is None else evidence.startswith(said)


def test_of_hosts_that_did_not_say_their_threads_all_are_one():
    facts = TrialFacts.read({"hosts": [client("c1", None), client("c2", 2)]})
    evidence = client_limited(Recorded(1.9, threads=4, busy=(0.95,) * 2), facts, embedded=False)
    assert evidence.startswith("its load threads were 95% busy")
