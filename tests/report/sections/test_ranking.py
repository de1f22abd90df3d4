"""The tables a report begins with rank nothing without saying what it is worth."""

import pytest

from dbdyno.report.core.series import load_labels, series_of
from dbdyno.report.document import document
from dbdyno.report.sections.ranking import matrix, ranked
from dbdyno.results.read import read_run
from synthetic_run import SYSTEMS, write_run


@pytest.fixture(scope="module")
def repeated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "repeated"
    faults = {("redis", 4): "client-limited"}
    systems = (SYSTEMS[1], SYSTEMS[2], SYSTEMS[4])
    return document(read_run(write_run(folder, systems, clients=(1, 4), seconds=3, repeats=3, faults=faults)))


def test_the_highest_comes_first_and_the_others_stand_to_it(repeated):
    rows = ranked(repeated, series_of(repeated))
    assert [row.series.label for row in rows] == ["lmdb", "redis", "mariadb"]
    assert (rows[0].share, rows[0].ratio, rows[0].verdict) == (1, "1", "leader")
    assert rows[1].verdict == "invalid" and "limited by the client" in rows[1].reason
    assert rows[2].verdict == "slower" and rows[2].ratio.startswith("0.0") and " [0.0" in rows[2].ratio


def test_another_durability_class_is_marked(repeated):
    assert [row.durability_differs for row in ranked(repeated, series_of(repeated))] == [False, True, True]


def test_one_trial_each_has_no_ratio(shown):
    rows = ranked(shown, series_of(shown))
    assert len(rows) > 2 and {row.ratio for row in rows} == {""}


def test_every_load_has_an_entry_for_every_system(repeated):
    series = series_of(repeated)
    loads = list(load_labels(series))
    by_label = {one.label: entries for one, entries in matrix(repeated, series, loads)}
    assert [entry.verdict for entry in by_label["lmdb"]] == ["leader", "leader"]
    assert [entry.verdict for entry in by_label["redis"]] == ["slower", "invalid"]
    assert by_label["redis"][1].throughput.startswith("≥ ") and "× [" in by_label["mariadb"][0].ratio


def test_a_load_without_a_complete_trial_has_none(shown):
    series = series_of(shown)
    entries = dict((one.label, entries) for one, entries in matrix(shown, series, list(load_labels(series))))
    assert entries["sqlite"][2] is None and entries["sqlite"][0].ratio == ""


def test_nothing_measured_ranks_nothing(shown):
    nothing = {"leader": None, "trials": {}, "ratios": {}}
    assert ranked(dict(shown, headline=nothing), series_of(shown)) == []
