"""The trials that may stand against each other, and the reasons why others may not."""

from dataclasses import replace

import pytest

from dbdyno.errors import UserError
from dbdyno.report.cells import (
    Side,
    cautions,
    cell_of,
    conditions,
    differences,
    loosened,
    matching,
    sides_of_run,
    sides_of_runs,
)
from dbdyno.results.read import read_run
from synthetic_run import SYSTEMS, write_run


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "two"
    return read_run(write_run(folder, SYSTEMS[:2], clients=(1, 2), repeats=2))


def changed(run, **about):
    """The run with these keys of every `trial.json` changed."""
    trials = tuple(replace(trial, about={**trial.about, **about}) for trial in run.trials)
    return replace(run, trials=trials)


def side(run, label="sqlite"):
    return Side(run, label, label)


def test_a_sides_trials_by_cell_and_repetition(two):
    cells = side(two).cells()
    assert [(cell.clients, sorted(trials)) for cell, trials in cells.items()] == [(1, [1, 2]), (2, [1, 2])]
    assert {trial.label for trials in cells.values() for trial in trials.values()} == {"sqlite"}
    assert side(two).durability == "D1"


def test_a_cell_is_the_work_the_size_and_the_load(two):
    cell = cell_of(two.trials[0])
    assert (cell.workload, cell.rows, cell.clients, cell.load) == ("game", 20_000, 1, "1 client")
    same = {cell_of(changed(two, **keys).trials[0]) for keys in ({}, {"options": {}}, {"repeat": 4})}
    assert same == {cell}
    for keys in (
        {"rows": 5},
        {"options": {"a": 1}},
        {"workload": "point-get"},
        {"pipeline": 8},
        {"network_delay_us": 200},
    ):
        assert cell_of(changed(two, **keys).trials[0]) != cell
    assert cell_of(changed(two, rate={"per_s": 10, "words": "10/s"}).trials[0]).load == "1 client, 10/s"


def test_systems_of_a_run_stand_against_its_first_or_the_one_named(two):
    assert [(a.label, b.label) for a, b in sides_of_run(two, None)] == [("sqlite", "lmdb")]
    assert [(a.label, b.label) for a, b in sides_of_run(two, "lmdb")] == [("lmdb", "sqlite")]
    with pytest.raises(UserError, match="no system 'oracle'; it has sqlite, lmdb"):
        sides_of_run(two, "oracle")


def test_one_system_cannot_be_compared(plain):
    with pytest.raises(UserError, match="holds 1 system"):
        sides_of_run(plain, None)


def test_runs_are_paired_by_what_they_both_have(two, plain):
    assert [(a.label, b.label) for a, b in sides_of_runs(two, two)] == [("sqlite", "sqlite"), ("lmdb", "lmdb")]
    other = changed(plain, label="another")
    assert [(a.label, b.label) for a, b in sides_of_runs(plain, other)] == [("mariadb", "another")]
    with pytest.raises(UserError, match="no system in common"):
        sides_of_runs(two, plain)


@pytest.mark.parametrize(
    ("about", "reason"),
    [
        ({"workload": "point-get"}, "workload: game against point-get"),
        ({"rows": 5}, "rows per table: 20000 against 5"),
        ({"options": {"access": "sequential"}}, "options"),
        ({"durability": {"class": "D0"}}, "durability class: D1 against D0"),
    ],
)
def test_what_is_not_like_with_like(two, about, reason):
    assert differences(side(two), side(two)) == []
    (difference,) = differences(side(two), side(changed(two, **about)))
    assert difference.startswith(reason)


def test_what_else_may_make_the_difference(two):
    assert list(cautions(side(two), side(two, "lmdb"))) == []
    elsewhere = replace(
        changed(two, seconds=60, client_cpus=[1], client="slow"), environment={**two.environment, "host": "other"}
    )
    said = " ".join(cautions(side(two), side(elsewhere)))
    assert "one after the other" in said and "host differs: bench-1 against other" in said
    assert "not alike in seconds: 2 against 60" in said and "not alike in client cpus: [0] against [1]" in said
    assert 'not alike in client: "native" against "slow"' in said


def test_forced_cells_differ_by_their_load_alone(two):
    ours, theirs = side(two).cells(), side(changed(two, rows=5)).cells()
    assert not ours.keys() & theirs.keys()
    assert loosened(ours).keys() == loosened(theirs).keys() and len(loosened(ours)) == 2


def of_build(run, sha256, path="/opt/db/bin/server"):
    build = {"setting": "basedir", "path": path, "version": "8.0.31", "sha256": sha256, "build_id": None}
    servers = [{"name": "sqlite", "version": "8.0.31", "build": build}]
    return changed(run, servers=servers, settings={"basedir": path, "sync": "full"})


def test_two_builds_of_one_version_and_path_are_told_apart(two):
    first, other = of_build(two, "a" * 64), of_build(two, "b" * 64)
    assert list(cautions(side(first), side(first))) == []
    said = [text for text in cautions(side(first), side(other)) if "sha256" in text]
    assert [text.partition("sha256 ")[2][:12] for text in said] == ["a" * 12, "b" * 12]
    assert any(text.endswith(" names no path") for text in cautions(side(first), side(two)))


def test_a_history_follows_builds_wherever_they_lie(two):
    first, other = of_build(two, "a" * 64), of_build(two, "b" * 64, "/tmp/head/bin/server")
    settings = [conditions(run, run.trials[0])["settings"] for run in (first, other)]
    assert settings == ['{"sync": "full"}'] * 2


def of_variants(run):
    """The run as if its second system was the first with ten times the rows, on two processors."""
    large = {"variant": {"rows": "200k", "server CPUs": "0-1"}, "rows": 200_000, "server_cpus": [0, 1]}
    small = {"variant": {"rows": "20k", "server CPUs": "0"}, "rows": 20_000, "server_cpus": [0]}
    trials = tuple(
        replace(trial, about=trial.about | (large if trial.label == "lmdb" else small)) for trial in run.trials
    )
    return replace(run, trials=trials)


def test_variants_of_one_run_match_without_their_size_and_differ_on_purpose(two):
    run = of_variants(two)
    ours, theirs = side(run), side(run, "lmdb")
    assert not ours.cells().keys() & theirs.cells().keys()
    cells = matching(ours, theirs)
    assert cells[0].keys() == cells[1].keys() and [(cell.workload, cell.clients) for cell in cells[0]] == [
        ("game", 1),
        ("game", 2),
    ]
    assert differences(ours, theirs) == []
    assert not any("server cpus" in caution for caution in cautions(ours, theirs))


def test_of_two_runs_the_same_difference_is_a_reason(two):
    first, second = of_variants(two), of_variants(two)
    reasons = differences(side(first), side(second, "lmdb"))
    assert reasons == ["rows per table: 20000 against 200000"]
    assert any("server cpus" in caution for caution in cautions(side(first), side(second, "lmdb")))
