"""A run's facts are read with their types, from older and newer versions alike."""

import pytest

from dbdyno.results.facts import Durability, NotSeen, PreparationFacts, RunFacts, Server, TrialFacts, client_host


def test_what_an_older_run_lacks_has_the_value_it_stood_for():
    facts = TrialFacts.read({"clients": 16})
    assert (facts.client, facts.pipeline, facts.network_delay_us) == ("native", 1, 0)
    assert facts.transactions_in_flight == 16 and facts.servers == ()
    assert facts.rate is None and not facts.automatic_warmup


def test_a_key_of_a_newer_version_is_left_out():
    assert TrialFacts.read({"colour": "green"}) == TrialFacts()
    assert RunFacts.read({"state": "complete", "colour": "green"}) == RunFacts(state="complete")


def test_a_fact_is_stated_from_the_moment_on_that_it_is_known():
    begun = list(TrialFacts(state="running").document())
    assert begun[:2] == ["trial", "preparation"] and begun[-1] == "not_seen"
    ended = TrialFacts(python_cpu_s=0.1, server_pids={}).document()
    assert list(ended)[-2:] == ["server_pids", "data_bytes"] and ended["data_bytes"] is None
    assert list(RunFacts(limits=[]).document())[-2:] == ["skipped", "limits"]


def test_a_trial_states_its_variant_before_the_processors_of_its_server():
    keys = list(TrialFacts(variant={}).document())
    begin = keys.index("client_cpus")
    assert keys[begin : begin + 5] == ["client_cpus", "load_threads", "data_dir", "variant", "server_cpus"]
    assert not {"load_threads", "data_dir", "variant"} & TrialFacts().document().keys()


def test_a_trial_states_events_before_and_profiled_seconds_after_its_data():
    facts = TrialFacts(hosts=[], events=[], python_cpu_s=0.1, profiled={"seconds": [3], "reason": None}, usage=[])
    assert list(facts.document())[-5:] == ["hosts", "events", "data_bytes", "profiled", "usage"]


def test_a_preparation_states_how_it_began_before_its_system():
    begun = ["preparation", "system", "label", "workload", "repeat", "started_unix_s"]
    assert list(PreparationFacts().document()) == begun
    restored = PreparationFacts(restore_seconds=1.0, loaded_in="01-a", data="restored", state="complete")
    assert list(restored.document())[6:9] == ["restore_seconds", "loaded_in", "servers"]
    assert list(restored.document())[-2:] == ["state", "reason"]
    loaded = PreparationFacts(start_seconds=1.0, data="restored", load_seconds=1.0, restore_seconds=1.0)
    assert list(loaded.document())[6:8] == ["start_seconds", "servers"]
    assert list(loaded.document())[-2:] == ["load_seconds", "restore_seconds"]


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


def test_a_client_host_has_a_part_of_the_load():
    client = {"name": "c1", "role": "client", "clients": {"first": 0, "count": 4}}
    assert client_host(client) == client
    assert client_host({"name": "s1", "role": "server"}) is None


def test_a_host_of_an_earlier_version_ran_clients():
    assert client_host({"name": "c1"}) == {"name": "c1"}


def test_hosts_are_those_of_clients_or_of_servers():
    clients, server = [{"name": "c1"}, {"name": "c2", "role": "client"}], {"name": "s1", "role": "server"}
    facts = TrialFacts.read({"hosts": [*clients, server]})
    assert (facts.client_hosts, facts.server_hosts) == (clients, [server])
    assert TrialFacts().client_hosts == TrialFacts().server_hosts == []
