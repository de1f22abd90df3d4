"""dbdyno's words on recorded runs stay the same. Accept a change of wording with `python -m tests.golden`."""

import json

import pytest

from dbdyno.results.facts import PreparationFacts, RunFacts, TrialFacts
from dbdyno.results.jsonfiles import read_object
from dbdyno.results.write import RunFolder, write_preparation, write_trial

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


@pytest.mark.parametrize("name", names())
def test_a_recorded_run_states_the_same_bytes_when_it_is_written_again(name, tmp_path):
    folder = unpack(name, tmp_path)
    files = [folder / "run.json", *folder.rglob("trial.json"), *folder.rglob("preparation.json")]
    before = {path: path.read_bytes() for path in files}
    document = read_object(folder / "run.json")
    RunFolder(folder).write_run(RunFacts.read(document), tuple(document))
    for path in files[1:]:
        if path.name == "trial.json":
            write_trial(path.parent, TrialFacts.read(read_object(path)))
        else:
            write_preparation(path.parent, PreparationFacts.read(read_object(path)))
    assert {path: path.read_bytes() for path in files} == before


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
