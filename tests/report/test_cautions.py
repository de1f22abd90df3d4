"""Cautions: the most serious first, and none if all is well."""

import pytest

from dbdyno.report.cautions import BAD, cautions


def said(run_document):
    return [sentence for sentence, _ in cautions(run_document)]


def test_failures_come_before_doubts(run_document):
    ordered = cautions(run_document)
    styles = [style for _, style in ordered]
    assert styles[0] == BAD and ordered[0][0].startswith("This run ")
    assert any(sentence.startswith("valkey was skipped: ") for sentence, _ in ordered)
    assert any(sentence == "1 answer was wrong." for sentence, _ in ordered)
    assert any("operations failed; most: " in sentence for sentence, _ in ordered)
    assert ordered[-1][0].startswith("Trials under 30 s") or "Trials under 30 s" in " ".join(said(run_document))


def test_marks_of_the_table_are_explained_once(limited, opened):
    assert "≥: the client limited this trial, so the store may do more." in said(limited)
    assert not any("limited by the client:" in line for line in said(limited))
    assert "behind: the store could not follow the rate, so its times only grow." in said(opened)
    assert not any(line.startswith("≥") for line in said(opened))
    assert not any(line.startswith("behind") for line in said(dict(opened, find_rate=[{}])))


def test_a_badge_names_its_systems_or_every_system(run_document):
    first, other = ({"label": label, "badges": ["flush in doubt"], "card": {}} for label in ("a", "b"))
    clean = {"label": "c", "badges": [], "card": {}}
    fairness = dict(run_document["fairness"], systems=[first, other])
    assert "Flushes may not reach the disk: every system." in said(dict(run_document, fairness=fairness))
    fairness = dict(run_document["fairness"], systems=[first, other, clean])
    assert "Flushes may not reach the disk: a, b." in said(dict(run_document, fairness=fairness))


def test_other_processes_are_named_if_they_used_much(run_document):
    def beside(cores):
        trials = [dict(run_document["trials"][0], others_cores=cores)]
        return [line for line in said(dict(run_document, trials=trials)) if line.startswith("Other processes")]

    assert beside(0.7) == ["Other processes used up to 0.7 of 2 CPUs during a trial."]
    assert beside(0.1) == beside(None) == []


@pytest.mark.parametrize(("cores", "order"), [(0.7, ["Longest", "Other"]), (1.2, ["Other", "Longest"])])
def test_a_host_full_of_other_work_comes_before_stalls(run_document, cores, order):
    trials = [dict(trial, others_cores=cores) for trial in run_document["trials"]]
    lines = said(dict(run_document, trials=trials))
    assert [line.split()[0] for line in lines if line.startswith(("Other processes", "Longest stall"))] == order


def test_idle_connections_do_not_stall(run_document):
    def about_seconds(costs):
        lines = said(dict(run_document, connection_memory=costs))
        return [line for line in lines if line.startswith(("Longest stall", "Trials under 30 s"))]

    assert len(about_seconds([])) == 2
    assert about_seconds([{"label": "mariadb"}]) == []


def test_a_run_without_trouble_has_none(settled):
    quiet = dict(settled, skipped=[], fairness=dict(settled["fairness"], systems=[]))
    trials = [dict(trial, steady_state={"class": "flat", "steady": True}, warnings=[]) for trial in quiet["trials"]]
    assert cautions(dict(quiet, trials=trials)) == []


def test_a_host_that_became_slower_is_one_caution(run_document):
    def host(copied, flushed):
        return {"memory": {"slots": [copied] * 4}, "disk": {"flush_us": {"p50": flushed, "slots": [flushed] * 4}}}

    environment = dict(run_document["environment"], measured=host(20e9, 100.0), measured_after=host(10e9, 300.0))
    lines = [line for line in said(dict(run_document, environment=environment)) if "slower after the run" in line]
    assert len(lines) == 1 and "10.0 GB/s against 20.0 GB/s before the run, and 1 more." in lines[0]
