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
    assert [rule(None).why(cells) for cells in (1, 3)] == ["one comparison is undecided", "3 comparisons are undecided"]


def test_a_pass_takes_as_long_as_the_longest_before_it(run):
    folder, _, planned = run
    rule = UntilDecided(lambda _: [], time.monotonic() + 1000)
    assert rule.has_time(time.monotonic() + 1)
    assert rule.undecided(folder, planned, 500.0) == rule.undecided(folder, planned, 0.0) == []
    assert rule.has_time(time.monotonic() + 600) and not rule.has_time(time.monotonic() + 400)
    rule.undecided(folder, [*planned, replace(planned[-1], repeat=MOST_PAIRS)], 0.0)
    assert not rule.has_time(time.monotonic() + 1000)


def test_no_pass_begins_that_would_end_too_late_and_none_after_the_last_pair(run):
    folder, _, planned = run
    assert UntilDecided(lambda _: pytest.fail("judged"), time.monotonic() + 5).undecided(folder, planned, 6.0) == []
    last = replace(planned[-1], repeat=MOST_PAIRS)
    rule = UntilDecided(lambda _: pytest.fail("judged"), time.monotonic() + 1000)
    assert rule.undecided(folder, [*planned, last], 1.0) == []
