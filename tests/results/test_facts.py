"""A run's facts are read with their types, from older and newer versions alike."""

import pytest

from dbdyno.results.facts import Durability, NotSeen, RunFacts, Server, TrialFacts


def test_what_an_older_run_lacks_has_the_value_it_stood_for():
    facts = TrialFacts.read({"clients": 16})
    assert (facts.client, facts.pipeline, facts.network_delay_us) == ("native", 1, 0)
    assert facts.transactions_in_flight == 16 and facts.servers == ()
    assert facts.rate is None and not facts.automatic_warmup


def test_a_key_of_a_newer_version_is_left_out():
    assert TrialFacts.read({"colour": "green"}) == TrialFacts()
    assert RunFacts.read({"state": "complete", "colour": "green"}) == RunFacts(state="complete")


def test_nested_facts_are_typed():
    facts = TrialFacts.read(
        {
            "clients": 4,
            "pipeline": 8,
            "warmup": "auto",
            "servers": [{"name": "mariadb", "version": "10.11"}],
            "not_seen": [{"band": "pressure", "reason": "the kernel keeps none"}],
        }
    )
    assert facts.known_servers == (Server("mariadb", "10.11"),)
    assert facts.unseen == (NotSeen("pressure", "the kernel keeps none"),)
    assert facts.transactions_in_flight == 32 and facts.automatic_warmup


@pytest.mark.parametrize(
    ("stated", "durability"),
    [
        ({"class": "D2", "reason": "flushed"}, Durability("D2", "flushed")),
        ({"class": None}, Durability("unknown", None)),
        (None, Durability("unknown", None)),
    ],
)
def test_a_durability_that_nobody_knows_is_unknown(stated, durability):
    assert TrialFacts.read({"durability": stated}).promised == durability
