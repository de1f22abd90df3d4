"""One table has everything of a limit, and everything that speaks of limits reads it."""

import pytest

from dbdyno.report.sections.over_time import COLOURS
from dbdyno.verdict.limits import BANDS, LIMIT_OF, LIMITS, RATE, SERVER_CPU, UNEXPLAINED, label_of, noun_of


def test_a_band_has_one_limit_and_one_colour():
    names = [band.name for band in BANDS]
    assert len(names) == len(set(names)) == len({band.colour for band in BANDS})
    assert names[-1] == UNEXPLAINED and LIMIT_OF[names[-1]] == UNEXPLAINED
    assert {band.name: band.colour for band in BANDS} == COLOURS


@pytest.mark.parametrize("limit", LIMITS.values(), ids=lambda limit: limit.name)
def test_each_limit_can_be_spoken_of(limit):
    assert limit.label and limit.noun and limit.opening_of(False)
    assert limit.held or not limit.bands
    assert limit.advice.endswith(".")
    assert bool(limit.rule) == (limit.inside is not None)
    assert LIMITS[limit.name] is limit


def test_a_store_inside_the_load_client_has_no_server():
    assert (noun_of(SERVER_CPU), noun_of(SERVER_CPU, embedded=True)) == ("the server's CPU", "the CPU")
    assert (label_of(SERVER_CPU), label_of(SERVER_CPU, embedded=True)) == ("server CPU", "CPU")
    limit = LIMITS[SERVER_CPU]
    assert (limit.held_of(False), limit.held_of(True)) == (
        "on the server's CPU or waiting for it",
        "on the CPU or waiting for it",
    )
    assert limit.opening_of(embedded=True) == "Limited by the CPU"
    assert LIMITS[RATE].opening_of(embedded=True) == LIMITS[RATE].opening_of(embedded=False)


def test_a_limit_of_a_newer_version_is_called_by_its_name():
    assert noun_of("thread-pool") == label_of("thread-pool") == "thread-pool"
