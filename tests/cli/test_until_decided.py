"""When a run has enough pairs."""

import time
from dataclasses import replace

import pytest

from dbdyno.cli.until_decided import UntilDecided
from dbdyno.experiment.trials import cells_of, expand
from dbdyno.report.ci.decisions import decisions
from dbdyno.stats.sequential import MOST_PAIRS
from helpers import experiment
from synthetic_run import SYSTEMS, write_run


@pytest.fixture
def run(tmp_path):
    """A run of 1 and 4 clients, and what was planned of it."""
    sides = tuple(replace(SYSTEMS[2], label=label) for label in ("base", "head"))
    folder = write_run(tmp_path / "run", sides, clients=(1, 4), repeats=2)
    named = experiment(system=[{"system": "mariadb", "label": side.label} for side in sides], clients=[1, 4], repeat=2)
    planned = expand(named.experiment, named.experiment.system)
    places = {trial: name for trial, name in zip(_names(planned), sorted(_folders(folder)), strict=True)}
    for preparation in planned:
        trials = tuple(replace(trial, name=_place(trial, folder)) for trial in preparation.trials)
        object.__setattr__(preparation, "trials", trials)
    assert len(places) == 8
    return folder, named.experiment, planned


def _names(planned):
    return [trial.name for preparation in planned for trial in preparation.trials]


def _folders(folder):
    return [path.name for path in (folder / "trials").iterdir()]


def _place(trial, folder):
    """Any trial of that number of clients: what counts is the cell it stands for."""
    return next(name for name in sorted(_folders(folder)) if name.endswith(f"-c{trial.clients}"))


def test_the_undecided_go_on_and_the_decided_do_not(run):
    folder, of_run, planned = run
    single, four = cells_of(of_run)

    def judge(read):
        decided = decisions(read, 0.05, [], 2)
        return [replace(each, outcome="same" if each.compared.cell.clients == 4 else None) for each in decided]

    rule = UntilDecided(judge, time.monotonic() + 1000)
    assert rule.undecided(folder, planned, 1.0) == [single]
    assert UntilDecided(lambda _: [], time.monotonic() + 1000).undecided(folder, planned, 1.0) == []
    assert four not in rule.undecided(folder, planned, 1.0)


def test_what_is_undecided_is_said_with_its_number(run):
    folder, *_ = run

    def rule(outcome):
        return UntilDecided(
            lambda read: [replace(each, outcome=outcome) for each in decisions(read, 0.05, [], 2)], time.monotonic()
        )

    assert rule(None).is_undecided(folder) and not rule("same").is_undecided(folder)
    assert [rule(None).why(cells) for cells in (1, 3)] == ["one undecided comparison", "3 undecided comparisons"]


def test_a_pair_takes_as_long_as_the_longest_before_it(run):
    folder, _, planned = run
    rule = UntilDecided(lambda _: [], time.monotonic() + 1000)
    assert rule.has_time(time.monotonic() + 1)
    assert rule.undecided(folder, planned, 500.0) == rule.undecided(folder, planned, 0.0) == []
    assert rule.has_time(time.monotonic() + 600) and not rule.has_time(time.monotonic() + 400)


def test_no_pair_begins_that_would_end_too_late_and_none_after_the_last(run):
    folder, of_run, planned = run
    assert UntilDecided(lambda _: pytest.fail("judged"), time.monotonic() + 5).undecided(folder, planned, 6.0) == []

    def judge(read):
        pairs = {1: [1.0] * MOST_PAIRS, 4: [1.0] * (MOST_PAIRS - 1)}
        decided = [replace(each, outcome=None) for each in decisions(read, 0.05, [], 2)]
        return [replace(each, rates_per_s=(pairs[each.compared.cell.clients],) * 2) for each in decided]

    assert UntilDecided(judge, time.monotonic() + 1000).undecided(folder, planned, 1.0) == [cells_of(of_run)[1]]


@pytest.mark.parametrize(
    ("seconds", "slower", "more", "chosen"),
    [
        (1000, {}, {1: 3, 4: 5}, [1, 4]),
        (55, {}, {1: 3, 4: 5}, [1]),
        (55, {4: True}, {1: 3, 4: 5}, [4]),
        (25, {4: True}, {1: 3, 4: 5}, [4]),
    ],
    ids=["time for all", "the fewest pairs", "the head seems slower", "too little for any"],
)
def test_time_that_is_too_short_for_all_goes_to_what_it_can_decide(run, seconds, slower, more, chosen):
    folder, _, planned = run

    def judge(read):
        decided = [(each.compared.cell.clients, each) for each in decisions(read, 0.05, [], 2)]
        return [
            replace(each, outcome=None, seems_slower=slower.get(clients, False), more_pairs=more[clients])
            for clients, each in decided
        ]

    cells = UntilDecided(judge, time.monotonic() + seconds).undecided(folder, planned, 10.0)
    assert sorted(cell.clients for cell in cells) == chosen
