"""What to be careful of: the most serious first, and nothing where all is well."""

from dbdyno.report.cautions import BAD, cautions


def said(shown):
    return [sentence for sentence, _ in cautions(shown)]


def test_failures_come_before_doubts(shown):
    found = cautions(shown)
    styles = [style for _, style in found]
    assert styles[0] == BAD and found[0][0].startswith("This run ")
    assert any(sentence.startswith("valkey was skipped: ") for sentence, _ in found)
    assert any(sentence == "1 answers were wrong." for sentence, _ in found)
    assert any("operations failed; most: " in sentence for sentence, _ in found)
    assert found[-1][0].startswith("Trials under 30 s") or "Trials under 30 s" in " ".join(said(shown))


def test_marks_of_the_table_are_explained_once(limited, opened):
    assert "≥: the client limited this trial, so the store may do more." in said(limited)
    assert not any("limited by the client:" in line for line in said(limited))
    assert "behind: the store could not follow the rate, so its times only grow." in said(opened)
    assert not any(line.startswith("≥") for line in said(opened))
    assert not any(line.startswith("behind") for line in said(dict(opened, find_rate=[{}])))


def test_a_badge_names_its_systems_or_every_system(shown):
    one, other = ({"label": label, "badges": ["flush in doubt"], "card": {}} for label in ("a", "b"))
    clean = {"label": "c", "badges": [], "card": {}}
    fairness = dict(shown["fairness"], systems=[one, other])
    assert "Flushes may not reach the disk: every system." in said(dict(shown, fairness=fairness))
    fairness = dict(shown["fairness"], systems=[one, other, clean])
    assert "Flushes may not reach the disk: a, b." in said(dict(shown, fairness=fairness))


def test_other_processes_are_named_if_they_used_much(shown):
    def beside(cores):
        trials = [dict(shown["trials"][0], others_cores=cores)]
        return [line for line in said(dict(shown, trials=trials)) if line.startswith("Other processes")]

    assert beside(0.7) == ["Other processes used up to 0.7 of 2 CPUs during a trial."]
    assert beside(0.1) == beside(None) == []


def test_a_run_without_trouble_has_none(settled):
    quiet = dict(settled, skipped=[], fairness=dict(settled["fairness"], systems=[]))
    trials = [dict(trial, steady_state={"class": "flat", "steady": True}, warnings=[]) for trial in quiet["trials"]]
    assert cautions(dict(quiet, trials=trials)) == []
