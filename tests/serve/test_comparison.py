"""Two runs are compared as the command does it, and what cannot be says why."""

from dbdyno.serve.comparison import compared


def test_the_systems_of_two_runs_are_compared_at_each_load(folder):
    comparison = compared(folder / "first", folder / "second", force=False)
    assert not comparison.refused and len(comparison.document["cells"]) == 4
    assert {cell["verdict"] for cell in comparison.document["cells"]} <= {
        "equivalent",
        "inconclusive",
        "faster",
        "slower",
    }


def test_runs_without_a_common_system_are_refused_with_the_reason(folder):
    comparison = compared(folder / "first", folder / "third", force=False)
    assert comparison.document is None and "no system in common" in comparison.refused


def test_a_run_that_cannot_be_read_is_refused_with_the_reason(folder):
    assert "is not JSON" in compared(folder / "first", folder / "half", force=True).refused
