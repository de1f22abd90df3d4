"""The client decides a side if it limited more than half of the trials that may be used."""

from dataclasses import replace

import pytest

from dbdyno.report.limited_sides import client_decided, times_limited
from dbdyno.results.conclusions import Conclusions
from dbdyno.results.read import read_run
from synthetic_run import SYSTEMS, write_run


@pytest.fixture(scope="module")
def trials(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "run"
    return read_run(write_run(folder, SYSTEMS[:1], clients=(1,), repeats=4)).trials


@pytest.mark.parametrize(("limited", "decided"), [(0, False), (2, False), (3, True), (4, True)])
def test_more_than_half_decide(trials, limited, decided):
    bound, free = (Conclusions(client_limited=sign) for sign in ("its load threads were 99 % busy", None))
    side = [replace(trial, judged=bound if number < limited else free) for number, trial in enumerate(trials)]
    assert (times_limited(side), client_decided(side)) == (limited, decided)
    failed = [replace(trial, state="failed", reason="it died") for trial in side]
    assert (times_limited(failed), client_decided(failed)) == (0, False)
