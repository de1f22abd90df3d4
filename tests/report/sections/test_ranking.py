"""The tables a report begins with rank nothing without saying what it is worth."""

import pytest

from dbdyno.report.core.series import load_labels, series_of
from dbdyno.report.document import document
from dbdyno.report.sections.ranking import limits, matrix, ranking
from dbdyno.results.read import read_run
from synthetic_run import SYSTEMS, write_run


@pytest.fixture(scope="module")
def repeated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "repeated"
    faults = {("redis", 4): "client-limited"}
    systems = (SYSTEMS[1], SYSTEMS[2], SYSTEMS[4])
    return document(read_run(write_run(folder, systems, clients=(1, 4), seconds=3, repeats=3, faults=faults)))


def rows_of(document):
    return [row for group in ranking(document, series_of(document)) for row in group.rows]


def test_the_highest_of_a_group_comes_first_and_the_others_stand_to_it(repeated):
    servers, embedded = ranking(repeated, series_of(repeated))
    assert [row.series.label for row in servers.rows] == ["redis", "mariadb"]
    assert [row.series.label for row in embedded.rows] == ["lmdb"]
    first, second = servers.rows
    assert (first.share, first.ratio, first.verdict) == (1, "", "leader")
    # The client limited the first, which is faster all the same: the second does at most as much.
    assert second.share < 1 and second.verdict == "slower" and second.ratio.startswith("≤ ")


def test_a_run_of_one_kind_has_one_group_without_a_title(repeated):
    servers = dict(repeated, trials=[trial for trial in repeated["trials"] if not trial["embedded"]])
    (group,) = ranking(servers, series_of(servers))
    assert group.title == "" and len(group.rows) == 2


def test_each_stands_at_its_own_best_load(repeated):
    def slower_at_four(trial):
        peaked = trial["label"] == "lmdb" and trial["clients"] == 4
        return dict(trial, throughput_per_s=trial["throughput_per_s"] / 100 if peaked else trial["throughput_per_s"])

    run_document = dict(repeated, trials=[slower_at_four(trial) for trial in repeated["trials"]])
    assert {row.series.label: row.load.clients for row in rows_of(run_document)} == {
        "redis": 4,
        "mariadb": 4,
        "lmdb": 1,
    }


def test_the_ratio_is_of_the_load_of_the_first(repeated):
    trials = [trial for trial in repeated["trials"] if (trial["label"], trial["clients"]) != ("redis", 4)]
    run_document = dict(repeated, trials=trials)
    second = rows_of(run_document)[1]
    assert second.verdict == "slower" and second.ratio.startswith("0.1") and "× [" in second.ratio


def test_another_durability_class_is_marked_within_its_group(repeated):
    assert [row.durability_differs for row in rows_of(repeated)] == [False, True, False]


def test_what_limited_each_is_said_of_its_own_best_load(repeated):
    assert limits(series_of(repeated)).startswith("Limited: redis by the client; mariadb by the network.")


def test_one_trial_each_has_no_ratio(run_document):
    rows = rows_of(run_document)
    assert len(rows) > 2 and {row.ratio for row in rows} == {""}


def test_every_load_has_an_entry_for_every_system(repeated):
    series = series_of(repeated)
    loads = list(load_labels(series))
    by_label = {system.label: entries for system, entries in matrix(repeated, series, loads)}
    assert [entry.verdict for entry in by_label["lmdb"]] == ["leader", "leader"]
    assert [entry.verdict for entry in by_label["redis"]] == ["slower", "invalid"]
    assert by_label["redis"][1].throughput.startswith("≥ ") and "× [" in by_label["mariadb"][0].ratio


def test_a_load_without_a_complete_trial_has_none(run_document):
    series = series_of(run_document)
    entries = dict(
        (system.label, entries) for system, entries in matrix(run_document, series, list(load_labels(series)))
    )
    assert entries["sqlite"][2] is None and entries["sqlite"][0].ratio == ""


def test_what_is_even_is_not_remarked_on(repeated):
    series = series_of(repeated)
    assert {entry.uneven for _, row in matrix(repeated, series, list(load_labels(series))) for entry in row} == {""}


def test_nothing_measured_ranks_nothing(run_document):
    nothing = dict(run_document, trials=[])
    assert ranking(nothing, series_of(nothing)) == []
