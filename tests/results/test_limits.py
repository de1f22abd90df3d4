"""The outcome of limits, in words."""

import json

import pytest

from dbdyno.results.limits import limit_sentences, limits_broken
from dbdyno.results.read import read_run
from synthetic_run import SYSTEMS, write_run


@pytest.fixture
def run(tmp_path):
    """A run of two trials; a function that states its limits and reads it."""
    folder = write_run(tmp_path / "run", SYSTEMS[:1], clients=(1, 2), seconds=2)
    names = json.loads((folder / "run.json").read_text())["trials"]

    def with_limits(*limits):
        stated = [
            {"trial": names[number], "limit": limit, "figure": figure, "value": value, "unit": unit, "holds": holds}
            for number, limit, figure, value, unit, holds in limits
        ]
        document = json.loads((folder / "run.json").read_text())
        (folder / "run.json").write_text(json.dumps(document | {"limits": stated}))
        return read_run(folder)

    return with_limits


def test_without_limits_nothing_is_said(run):
    assert limit_sentences(run()) == () and not limits_broken(run())


def test_limits_that_hold_are_one_sentence(run):
    limited_run = run(*((n, limit, "p99", 1.0, "us", True) for n in (0, 1) for limit in ("p99 < 1ms", "max < 1s")))
    assert limit_sentences(limited_run) == ("Limits hold in 2 of 2 trials: p99 < 1ms, max < 1s.",)
    assert not limits_broken(limited_run)


def test_a_broken_limit_names_its_worst_trial(run):
    limited_run = run((0, "p99 < 1ms", "p99", 2e3, "us", False), (1, "p99 < 1ms", "max", 3e6, "us", False))
    (sentence,) = limit_sentences(limited_run)
    assert sentence == "Limit broken: p99 < 1ms in 2 of 2 trials; the worst is sqlite, game, 2 clients: max 3 s."
    assert limits_broken(limited_run)


@pytest.mark.parametrize(
    ("limit", "figure", "value", "unit", "words"),
    [
        ("throughput > 9/s", "throughput", 8.0, "/s", "8/s"),
        ("errors = 0", "errors", 1, "", "1 operation failed"),
        ("errors < 1%", "errors", 0.02, "share", "2 % of operations failed"),
        ("p99 < 10us", "p99", 15.31, "us", "15.3 µs"),
        ("p99 < 1ms", "p99", None, "us", "nothing was measured"),
    ],
)
def test_each_figure_has_its_unit(run, limit, figure, value, unit, words):
    (sentence,) = limit_sentences(run((0, limit, figure, value, unit, False)))
    assert sentence == f"Limit broken: {limit} in 1 of 1 trial; it is sqlite, game, 1 client: {words}."


def test_the_lowest_throughput_is_the_worst(run):
    limit = "throughput > 9/s"
    limited_run = run((0, limit, "throughput", 8, "/s", False), (1, limit, "throughput", 2, "/s", False))
    assert "2 clients: 2/s" in limit_sentences(limited_run)[0]
