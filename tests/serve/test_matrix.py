"""A row is of one workload, size and host; in it the newest figure of each system counts."""

from dataclasses import replace

from dbdyno.report.document import document
from dbdyno.results.read import read_run
from dbdyno.serve.matrix import SHADES, Cell, Conditions, cells_of, matrix

HERE = Conditions("game", 1000, 1, 0, "here")


def cell(system, per_s, started=1.0, **keys):
    return replace(Cell(HERE, system, "run", started, per_s, 4, False, "D1", "locks"), **keys)


def test_colours_are_relative_to_the_best_of_the_row():
    there = replace(HERE, host="there")
    table = matrix([cell("a", 100.0), cell("b", 1.0), cell("c", 50.0), cell("c", 7.0, conditions=there)])
    assert table.systems == ["a", "b", "c"] and [row.conditions for row in table.rows] == [HERE, there]
    first, second = table.rows
    assert [(entry.share, entry.shade) for entry in first.entries] == [(1.0, SHADES), (0.01, 1), (0.5, 5)]
    assert second.entries[:2] == [None, None] and second.entries[2].shade == SHADES


def test_the_newest_run_of_a_system_counts():
    table = matrix([cell("a", 100.0, 2.0, run="new"), cell("a", 900.0, 1.0, run="old")])
    assert table.rows[0].entries[0].cell.run == "new" and table.rows[0].entries[0].share == 1.0


def test_nothing_is_no_row():
    assert matrix([]).rows == []


def test_a_run_has_a_cell_for_each_system_at_its_best_load(folder):
    run_document = document(read_run(folder / "first"), timelines=False)
    by_system = {cell.system: cell for cell in cells_of("first", run_document)}
    assert by_system.keys() == {"sqlite", "lmdb"}
    best = max(trial["throughput_per_s"] for trial in run_document["trials"] if trial["label"] == "lmdb")
    assert by_system["lmdb"].clients == 4 and by_system["lmdb"].throughput_per_s <= best
    assert by_system["lmdb"].conditions.host.startswith("bench-1") and by_system["lmdb"].durability == "D1"


def test_an_open_loop_is_no_measure_of_the_highest(folder):
    run_document = document(read_run(folder / "first"), timelines=False)
    trials = [trial | {"rate": {"per_s": 10}} for trial in run_document["trials"]]
    assert cells_of("first", run_document | {"trials": trials}) == ()


def test_a_delay_is_a_condition_and_no_other_system(folder):
    run_document = document(read_run(folder / "first"), timelines=False)
    far = [trial | {"network_delay_us": 200} for trial in run_document["trials"]]
    cells = cells_of("first", run_document | {"trials": [*run_document["trials"], *far]})
    assert {(cell.system, cell.conditions.network_delay_us) for cell in cells} == {
        (system, delay_us) for system in ("sqlite", "lmdb") for delay_us in (0, 200)
    }
