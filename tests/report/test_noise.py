"""A run of a system against itself says the noise floor, and where that is used."""

from dataclasses import replace

import pytest

from dbdyno.report.cells import sides_of_run
from dbdyno.report.comparison import compare_sides
from dbdyno.report.noise import floor_of, floor_sentence, measured_floors
from dbdyno.results.conclusions import Conclusions
from dbdyno.results.read import read_run
from synthetic_run import SYSTEMS, write_run


@pytest.fixture(scope="module")
def sides(tmp_path_factory):
    """The same store twice, under two labels."""
    both = tuple(replace(SYSTEMS[2], label=f"mariadb {side}") for side in "AB")
    folder = tmp_path_factory.mktemp("runs") / "aa"
    return sides_of_run(read_run(write_run(folder, both, clients=(1, 4), seconds=3, repeats=10)), None)


@pytest.fixture
def floors(sides):
    return measured_floors(compare_sides(sides, 0.02, 0.0, False).cells)


def fail(trial):
    return replace(trial, state="failed")


def test_lower_bounds_have_a_floor_too(sides, floors):
    limited = [tuple(replace(side, run=bounded(side.run)) for side in pair) for pair in sides]
    cells = compare_sides(limited, 0.02, 0.0, False).cells
    assert {cell.verdict for cell in cells} == {"invalid"}
    assert [floor.noise for floor in measured_floors(cells)] == [floor.noise for floor in floors]


def bounded(run):
    return replace(run, trials=tuple(map(limit, run.trials)))


def limit(trial):
    return replace(trial, judged=Conclusions(client_limited="its load threads were 99 % busy"))


def test_every_cell_has_its_floor(floors):
    assert [(floor.clients, floor.pairs, floor.seconds, floor.system, floor.host) for floor in floors] == [
        (1, 10, 3, "mariadb", "bench-1"),
        (4, 10, 3, "mariadb", "bench-1"),
    ]
    for floor in floors:
        assert floor.low < 1 < floor.high and floor.noise == max(1 / floor.low, floor.high) - 1
        assert floor_sentence(floor).endswith("from 10 pairs; the interval includes no difference, as it should.")
    assert "1 in 20 by chance" in floor_sentence(replace(floors[0], low=1.001))


def test_one_pair_or_a_failed_trial_says_none(sides):
    cells = compare_sides(sides, 0.02, 0.0, False).cells
    failed = [replace(cell, trials=tuple(tuple(map(fail, side)) for side in cell.trials)) for cell in cells]
    assert measured_floors(failed) == []
    assert measured_floors([replace(cell, comparison=replace(cell.comparison, pairs=1)) for cell in cells]) == []


def test_the_floor_makes_the_margin_where_it_is_more_than_asked_for(sides, floors):
    high = [replace(cell, noise=0.3, run="aa-run") for cell in floors]
    comparison = compare_sides(sides, 0.02, high, False)
    assert {cell.comparison.margin for cell in comparison.cells} == {0.3} and comparison.cells[
        0
    ].verdict == "equivalent"
    assert "the margin is ±30.0 % at 1 client: the noise of mariadb in aa-run" in comparison.cautions
    low = compare_sides(sides, 0.02, [replace(cell, noise=0.001) for cell in floors], False)
    assert {cell.comparison.margin for cell in low.cells} == {0.02}
    assert not any("margin" in text for text in low.cautions) and low.cells[0].noise_from is None


def test_trials_of_the_same_length_count_before_the_same_load(sides, floors):
    (baseline, candidate), cell = sides[0], next(iter(sides[0][0].cells()))
    long = replace(floors[0], seconds=600, noise=0.5)
    assert floor_of([long, floors[1]], baseline, candidate, cell) == floors[1]
    assert floor_of([replace(floor, host="other") for floor in floors], baseline, candidate, cell) is None
