"""The sentence names a winner only where the trials say so, and then by how much."""

from itertools import combinations

import numpy as np
import pytest

from dbdyno.report.core.words import significant
from dbdyno.report.document import document
from dbdyno.report.headline import compared, headline
from dbdyno.results.noise import NoiseFloor, keep_noise, noise_file_of
from dbdyno.results.read import read_run
from synthetic_run import SYSTEMS, write_run


@pytest.fixture(scope="module")
def repeated(tmp_path_factory):
    """Two systems that differ, five times."""
    folder = tmp_path_factory.mktemp("runs") / "repeated"
    return read_run(write_run(folder, SYSTEMS[:2], clients=(1, 4), seconds=3, repeats=5))


def test_a_winner_is_named_with_its_interval(repeated):
    answer = document(repeated)["headline"]
    assert answer["winner"] == answer["leader"] == "lmdb"
    assert answer["sentence"].startswith("lmdb was fastest: 2.") and "× [2." in answer["sentence"]
    assert "the throughput of sqlite, the runner-up (at 4 clients, 5 pairs of trials)" in answer["sentence"]
    assert answer["ratios"]["sqlite"]["verdict"] == "slower" and answer["trials"].keys() == {"sqlite", "lmdb"}


def test_a_winner_of_another_durability_class_is_said_to_be_that(repeated):
    run_document = document(repeated)
    trials = [dict(trial, durability="D0") if trial["label"] == "lmdb" else trial for trial in run_document["trials"]]
    sentence = headline(trials, run_document["comparison"], [])["sentence"]
    assert "5 pairs of trials; durability D0 against D1, not like with like)" in sentence


@pytest.fixture(scope="module")
def of_three(tmp_path_factory):
    """Three systems that differ, lmdb and sqlite of D1, mariadb of D2."""
    return document(read_run(write_run(tmp_path_factory.mktemp("of-three") / "run", SYSTEMS[:3], (4,), 3, repeats=5)))


@pytest.mark.parametrize(
    ("classes", "said"),
    [
        ({}, "; durability D1 against D2 (mariadb), not like with like)"),
        ({"sqlite": "D0"}, "; durability D1 against D0 (sqlite) and D2 (mariadb), not like with like)"),
        ({"lmdb": None}, "; durability unknown against D1 (sqlite) and D2 (mariadb), not like with like)"),
        ({"sqlite": "D2"}, "; durability D1 against D2 (sqlite, mariadb), not like with like)"),
        ({"mariadb": "D1"}, None),
    ],
)
def test_the_badge_is_of_all_that_the_winner_is_set_against(of_three, classes, said):
    trials = [trial | {"durability": classes.get(trial["label"], trial["durability"])} for trial in of_three["trials"]]
    sentence = headline(trials, of_three["comparison"], [])["sentence"]
    assert sentence.startswith("lmdb was fastest") and "of sqlite, the runner-up" in sentence
    assert said in sentence if said else "durability" not in sentence


def test_nor_is_the_most_that_was_done_named_across_classes_without_it(of_three):
    said = "durability D1 against D2 (mariadb), not like with like)"
    once = [trial for trial in of_three["trials"] if trial["repeat"] == 1]
    assert said in headline(once, None, [])["sentence"]
    invalid = dict(of_three["comparison"])
    invalid["cells"] = [cell | {"verdict": "invalid", "reason": "it was wrong"} for cell in invalid["cells"]]
    sentence = headline(of_three["trials"], invalid, [])["sentence"]
    assert sentence.startswith("No winner: lmdb reached most, but it was wrong (") and said in sentence


def test_how_even_both_were_stands_beside_the_ratio_of_means(repeated):
    run_document = document(repeated)
    floors = {"sqlite": 0.91, "lmdb": 0.35}
    trials = [
        dict(trial, stability=trial["stability"] | {"floor": floors[trial["label"]]})
        for trial in run_document["trials"]
    ]
    sentence = headline(trials, run_document["comparison"], [])["sentence"]
    assert sentence.endswith("5 pairs of trials; floor 35% against floor 91%).")


def with_cells(run_document, **change):
    return dict(run_document["comparison"], cells=[cell | change for cell in run_document["comparison"]["cells"]])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"verdict": "inconclusive"}, "No winner: lmdb's lead over sqlite, "),
        ({"verdict": "equivalent"}, "No winner: lmdb and sqlite are equivalent within 2 %, "),
        ({"verdict": "invalid", "reason": "it was wrong"}, "No winner: lmdb reached most, but it was wrong ("),
        ({"low": None, "high": None}, "No winner: lmdb reached most, but there is no interval ("),
    ],
)
def test_else_nobody_won_and_why_not_is_said(repeated, change, said):
    run_document = document(repeated)
    answer = headline(run_document["trials"], with_cells(run_document, **change), [])
    assert answer["winner"] is None and answer["sentence"].startswith(said)


def made_up(per_s, **changes):
    """Trials of systems by label, and their comparisons, each with these verdicts by pair of labels."""
    load = {"workload": "game", "rows": 1, "clients": 1, "pipeline": 1, "network_delay_us": 0, "rate": None}
    even = {"stability": {"floor": None, "longest_without_completion_s": 0}, "durability": "D2"}
    about = {"state": "complete", "client_limited": False, "repeat": 5, **load, **even}
    trials = [
        about | {"trial": f"{label}-{number}", "system": label, "label": label, "throughput_per_s": rate}
        for label, rates in per_s.items()
        for number, rate in enumerate(rates)
    ]
    means = {label: float(np.exp(np.log(rates).mean())) for label, rates in per_s.items()}
    cells = []
    for first, other in combinations(per_s, 2):
        ratio = means[other] / means[first]
        verdict = "faster" if ratio > 1 else "slower"
        figures = {"ratio": ratio, "low": ratio / 1.01, "high": ratio * 1.01, "verdict": verdict, "reason": None}
        figures |= {"pairs": 5, "margin": 0.02, "noise": 0.0, "least": False, "p_holm": 0.01} | changes.get(
            first + other, {}
        )
        sides = {"baseline": first, "candidate": other}
        names = {role: {"label": label, "throughput_per_s": means[label]} for role, label in sides.items()}
        cells.append(load | names | figures)
    return headline(trials, {"cells": cells}, [])


def test_the_leader_is_not_whoever_had_one_good_trial():
    answer = made_up({"A": [1000, 1000, 1000, 1000, 1101], "B": [1100] * 5})
    assert answer["winner"] == answer["leader"] == "B" and answer["sentence"].startswith("B was fastest: 1.08× [")


def test_fastest_is_only_who_was_compared_with_everybody():
    per_s = {"A": [1200] * 5, "B": [1100] * 5, "C": [1000] * 5}
    assert made_up(per_s)["sentence"].startswith("A was fastest: 1.09× ")
    bound = {"verdict": "invalid", "reason": "C was limited by the client"}
    answer = made_up(per_s, AC=bound, BC=bound)
    assert (answer["winner"], answer["leader"]) == (None, "A")
    assert "A was faster than B, 1.09× [1.08 to 1.10], but C was not compared: C was limited by" in answer["sentence"]
    unpaired = {"verdict": "invalid", "reason": "there is no pair"}
    many = made_up(per_s | {"D": [900] * 5, "E": [800] * 5}, AC=unpaired, AD=unpaired, AE=unpaired)
    assert many["sentence"].partition("but ")[2].startswith("C and 2 others were not compared: there is no pair (at ")
    wide = {"verdict": "inconclusive", "low": 0.5, "high": 1.4}
    answer = made_up(per_s, AC=wide)
    assert answer["winner"] is None and "but C may be equal, 1.20× [0.714 to 2.00]" in answer["sentence"]


def test_an_interval_that_holms_correction_took_back_is_said_to_be_chance_among_several():
    taken_back = {"verdict": "inconclusive", "low": 0.8, "high": 0.96}
    per_s = {"A": [1200] * 5, "B": [1100] * 5, "C": [1000] * 5}
    sentence = made_up(per_s, AC=taken_back)["sentence"]
    assert "but C is not confirmed slower, 1.20× [1.04 to 1.25]" in sentence
    assert "[1.04 to 1.25], may be chance among several comparisons" in made_up(per_s, AB=taken_back)["sentence"]


def test_a_system_that_does_more_with_fewer_clients_is_named_with_that_figure(repeated):
    run_document = document(repeated)
    trials = [
        trial | {"throughput_per_s": trial["throughput_per_s"] * (1.5 if trial["clients"] == 1 else 0.5)}
        if trial["label"] == "sqlite"
        else trial
        for trial in run_document["trials"]
    ]
    own = sorted(trial["throughput_per_s"] for trial in trials if (trial["label"], trial["clients"]) == ("sqlite", 1))
    sentence = headline(trials, run_document["comparison"], [])["sentence"]
    assert sentence.endswith(f" More with other numbers of clients: sqlite, {significant(own[2])}/s at 1 client.")
    assert "More with" not in headline(run_document["trials"], run_document["comparison"], [])["sentence"]


def test_a_difference_within_the_hosts_noise_is_said_to_be_that():
    answer = made_up({"A": [1041] * 5, "B": [1000] * 5}, AB={"verdict": "inconclusive", "noise": 0.056})
    assert answer["winner"] is None and "may be the noise of this host, ±5.6 % (" in answer["sentence"]


def test_the_noise_that_was_known_goes_with_the_run(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    folder = write_run(tmp_path / "run", SYSTEMS[:2], clients=(1,), seconds=2, repeats=5)
    assert headline_of(folder)["winner"] == "lmdb"
    floor = NoiseFloor("bench-1", "sqlite", "game", 20_000, 1, 1, 2, 10, 0.3, 3.0, 2.0, "aa", 1.0)
    keep_noise([floor], noise_file_of(folder))
    assert headline_of(folder)["winner"] is None and "equivalent within 200 %" in headline_of(folder)["sentence"]


def headline_of(folder):
    return document(read_run(folder))["headline"]


def test_one_trial_each_names_no_winner(run, run_document):
    assert compared(run) is None
    answer = headline(run_document["trials"], None, [])
    assert answer["winner"] is None and answer["ratios"] == {}
    assert answer["sentence"].startswith("Highest measured: lmdb, ")
    assert answer["sentence"].endswith(
        "at 2 clients (floor 93%; durability D1 against D0 and D2, not like with like). "
        "No interval, no winner: one trial each."
    )


def test_one_system_has_nothing_beside_it(plain):
    assert compared(plain) is None
    assert document(plain)["headline"]["sentence"].endswith("No winner: there is nothing to compare it with.")


def test_a_lower_bound_is_said_to_be_one(limited):
    assert "mariadb, at least " in headline(limited["trials"], None, [])["sentence"]


def test_what_was_searched_for_goes_first(run_document):
    assert headline(run_document["trials"], None, [{"sentence": "900/s it is."}])["sentence"] == "900/s it is."


def test_of_nothing_there_is_no_figure():
    assert headline([], None, []) == {
        "sentence": "No trial was completed, so there is no figure to name.",
        "winner": None,
        "leader": None,
        "trials": {},
        "ratios": {},
        "limits": {},
    }


@pytest.mark.parametrize(
    ("state", "said"), [("complete", "No transaction was completed within the seconds"), ("failed", "No trial was com")]
)
def test_a_store_that_is_too_slow_is_told_from_a_trial_that_failed(run_document, state, said):
    slow = [trial | {"state": state, "throughput_per_s": 0.0} for trial in run_document["trials"]]
    assert headline(slow, None, [])["sentence"].startswith(said)
