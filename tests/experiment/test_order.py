"""Blocks of repetitions are mirrored, drawn, and replayed by their seed."""

from dbdyno.experiment.order import abba_order


def test_blocks_are_mirrored_and_drawn():
    order = abba_order(["a", "b", "c"], 6, "1")
    assert all(sorted(block) == ["a", "b", "c"] for block in order)
    assert all(order[index] == order[index + 1][::-1] for index in (0, 2, 4))
    assert order == abba_order(["a", "b", "c"], 6, "1") != abba_order(["a", "b", "c"], 6, "2")
    assert abba_order(["a", "b", "c"], 3, "1") == order[:3]
    firsts = [abba_order(["a", "b"], 2, str(seed))[0][0] for seed in range(200)]
    assert 70 < firsts.count("a") < 130


def test_a_steady_change_of_the_host_weighs_on_both_alike():
    host = iter(range(1000))
    places = {"a": [], "b": []}
    for block in abba_order(["a", "b"], 10, "4"):
        for system in block:
            places[system].append(next(host))
    assert sum(places["a"]) == sum(places["b"])
