"""dbdyno's words on recorded runs stay the same. Accept a change of wording with `python -m tests.golden`."""

import json

import pytest

from .stored import differences, expected, names, page_of, said_of, unpack

FILES = ("show.json", "summary.txt", "details.txt", "verdicts.json", "plan.json")


@pytest.fixture(scope="module", params=names())
def golden(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("golden")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(folder / "data"))
        yield request.param, said_of(unpack(request.param, folder))


@pytest.mark.parametrize("file", FILES)
def test_what_is_said_of_a_recorded_run_stays_as_it_is(golden, file):
    name, said = golden
    was, now = expected(name, file), said[file]
    if file.endswith(".json"):
        assert list(differences(json.loads(was), json.loads(now))) == []
    else:
        assert now.splitlines() == was.splitlines()


@pytest.mark.parametrize("name", names())
def test_a_recorded_run_has_a_report(name, tmp_path):
    assert page_of(unpack(name, tmp_path)).rstrip().endswith("</html>")


def test_there_are_runs_of_many_kinds():
    assert len(names()) >= 12


@pytest.mark.parametrize(
    ("was", "now", "where"),
    [
        ({"a": 1}, {"a": 2}, ".a: 1 became 2"),
        ({"a": 1}, {}, ".a: gone"),
        ({}, {"a": 1}, ".a: new"),
        ([1.0, 2.0], [1.0, 2.1], "[1]: 2.0 became 2.1"),
        (1, True, ": 1 became True"),
        ([1], [1, 2], ": [1] became [1, 2]"),
    ],
)
def test_a_difference_is_named_with_its_path(was, now, where):
    assert list(differences(was, now)) == [where]


def test_sums_in_another_order_are_no_difference():
    assert not list(differences([0.1 + 0.2 + 0.3], [0.3 + 0.2 + 0.1]))
