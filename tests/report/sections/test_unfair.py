"""Unfair conclusions are named if the run gives a reason for it, and not otherwise."""

import pytest

from dbdyno.report.document import document
from dbdyno.report.sections.unfair import unfair


def test_a_run_with_something_of_everything(run_document):
    said = "\n".join(unfair(run_document))
    for part in (
        "1 read was wrong: the figures of that store do not count.",
        "Durability differs, so a ranking compares two promises (D0: redis; D1: sqlite, lmdb; D2: mariadb, ",
        "One trial each: ",
        "Trials under 30 s are too short",
        "Embedded, so client CPU includes the store's and no network is used: sqlite, lmdb.",
        "Client and servers shared one host; the client was pinned to CPU 0, servers to 1.",
        "1 trial carries a warning: see Checks.",
    ):
        assert part in said


def test_an_attached_server_is_said_to_be_unseen_unless_its_process_was_observed(plain):
    run_document = document(plain)
    here = [dict(trial, attached=True) for trial in run_document["trials"]]
    said = "\n".join(unfair(dict(run_document, trials=here)))
    assert "Attached" not in said and "Client and servers shared one host" in said
    elsewhere = [dict(trial, processes=[]) for trial in here]
    said = "\n".join(unfair(dict(run_document, trials=elsewhere)))
    assert "Attached, so neither the server's CPU nor its host was observed: mariadb." in said
    assert "shared one host" not in said


def test_a_plain_run_has_less_to_be_careful_of(plain):
    said = "\n".join(unfair(document(plain)))
    for part in ("Durability", "wrong", "One trial", "Embedded", "Attached", "warning", "lower bounds"):
        assert part not in said


def test_lower_bounds_and_rates_that_were_not_followed(limited, opened):
    assert any("figures are lower bounds: mariadb." in sentence for sentence in unfair(limited))
    assert any(sentence.startswith("Could not follow the offered rate") for sentence in unfair(opened))


@pytest.mark.parametrize("badge", ["flush in doubt", "answers not checked"])
def test_badges_of_the_card_are_said(plain, badge):
    run_document = document(plain)
    systems = [system | {"badges": [badge]} for system in run_document["fairness"]["systems"]]
    said = list(unfair(dict(run_document, fairness=run_document["fairness"] | {"systems": systems})))
    assert f"{badge.capitalize()}: mariadb (see the fairness card)." in said


def test_means_without_a_steady_state(settled):
    trial = settled["trials"][0]
    drifting = dict(trial, steady_state=trial["steady_state"] | {"steady": False, "class": "drifting", "drift": None})
    said = list(unfair(dict(settled, trials=[drifting])))
    why = "so their means depend on their length"
    assert f"No steady state in 1 of 1 trials, {why}: mariadb, 4 clients (drifting)." in said


def test_a_host_that_others_used_is_said(plain):
    run_document = document(plain)
    assert not any("other work" in sentence for sentence in unfair(run_document))
    trials = [
        dict(trial, others_cores=cores) for trial, cores in zip(run_document["trials"], (0.39, None, 0.5), strict=False)
    ]
    said = [sentence for sentence in unfair(dict(run_document, trials=trials)) if "other work" in sentence]
    assert said == [
        "The host had other work: up to 0.5 of its processors went to other processes during 2 of "
        f"{len(trials)} trials."
    ]
