"""A library's cost beside the native client; no more is claimed than was observed."""

import pytest

from dbdyno.report.sections.libraries import library_costs, understated


def trial(label, client, per_s, clients=4, repeat=1, **keys):
    return {
        "label": label,
        "client": client,
        "workload": "game",
        "options": {},
        "rows": 10,
        "clients": clients,
        "repeat": repeat,
        "state": "complete",
        "mismatches": 0,
        "failed": 0,
        "throughput_per_s": per_s,
        "client_cpu_us_per_transaction": 20.0 if client == "native" else 100.0,
        "client_own_cpu_us_per_transaction": None if client == "native" else 12.5,
    } | keys


def through(per_s, **keys):
    return trial("store via slow-py", "slow-py", per_s, **keys)


def native(per_s, **keys):
    return trial("store", "native", per_s, **keys)


def test_a_library_is_held_against_the_native_client_on_the_same_load():
    (cost,) = library_costs([native(1000), native(9000, clients=8), through(250), trial("other", "native", 7)])
    assert (cost["label"], cost["native_label"], cost["clients"], cost["repetitions"]) == (
        "store via slow-py",
        "store",
        4,
        1,
    )
    assert (cost["throughput_ratio"], cost["client_cpu_ratio"]) == pytest.approx((0.25, 5.0))


def test_a_program_is_held_against_the_native_client_too():
    (cost,) = library_costs([native(1000), trial("store via mine", "a/mine", 500)])
    assert (cost["label"], cost["native_label"], cost["throughput_ratio"]) == ("store via mine", "store", 0.5)


def test_repetitions_are_paired_and_their_range_is_told():
    trials = [native(1000), through(250), native(1000, repeat=2), through(160, repeat=2), through(9, repeat=3)]
    (cost,) = library_costs(trials)
    assert (cost["throughput_ratio"], cost["lowest"], cost["highest"], cost["repetitions"]) == pytest.approx(
        (0.2, 0.16, 0.25, 2)
    )
    first, _ = understated({"client_libraries": [cost]})
    assert "0.16 to 0.25 in 2 repetitions" in first


@pytest.mark.parametrize("spoilt", [{"state": "failed"}, {"mismatches": 1}, {"failed": 1}, {"throughput_per_s": None}])
def test_what_failed_is_held_against_nothing(spoilt):
    assert library_costs([native(1000), through(250) | spoilt]) == []
    assert library_costs([native(1000) | spoilt, through(250)]) == []


def test_the_headline_is_at_the_native_clients_highest_and_an_observation():
    trials = [native(1000), native(8000, clients=16), through(250), through(400, clients=16)]
    sentence, caution = understated({"client_libraries": library_costs(trials)})
    what, rates, cpu = sentence.partition(" (")[0], sentence.partition(" (")[2].split(")")[0], sentence.split("). ")[1]
    assert what == "store via slow-py, game at 16 clients: 0.05 × the native client's throughput"
    assert rates == "400 against 8,000/s; one trial each"
    assert cpu == "Client CPU per transaction: 5.00 × the native client's, of which dbdyno used 12.5 µs."
    assert "ratios have no interval" in caution


def test_without_client_cpu_nothing_is_said_of_it():
    unseen = {"client_cpu_us_per_transaction": None, "client_own_cpu_us_per_transaction": None}
    (cost,) = library_costs([native(1000), through(250) | unseen])
    assert cost["client_cpu_ratio"] is None
    assert "CPU" not in next(understated({"client_libraries": [cost]}))


def test_a_run_without_libraries_has_nothing_to_say(run_document):
    assert run_document["client_libraries"] == [] and list(understated(run_document)) == []
    assert {trial["client"] for trial in run_document["trials"]} == {"native"}
