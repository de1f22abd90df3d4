"""Limits decide the exit status of `run` and `show`, and are said at the end."""

import json

import pytest

RUN = ("run", "game", "--system", "fake", "--clients", "1", "--seconds", "1", "--rows", "10")


@pytest.fixture
def run(dbdyno, fake_load, fake_system):
    return lambda *options: dbdyno(*RUN, *(part for option in options for part in ("--set", option)))


def test_limits_that_hold_end_with_0(run, dbdyno):
    status, out, _ = run("limits.throughput=> 10/s", "limits.errors=0")
    assert status == 0 and "Limits hold in 1 of 1 trials: throughput > 10/s, errors = 0." in out
    assert dbdyno("show", "last")[0] == 0


def test_a_broken_limit_ends_with_1_and_a_sentence(run, dbdyno):
    status, out, _ = run("limits.throughput=> 5000/s")
    sentence = "Limit broken: throughput > 5000/s in 1 of 1 trial; it is fake, game, 1 client: 1,000/s."
    assert status == 1 and sentence in out
    status, out, _ = dbdyno("show", "last")
    assert status == 1 and sentence in out
    status, out, _ = dbdyno("show", "last", "--details")
    assert status == 1 and sentence in " ".join(out.split())
    status, out, _ = dbdyno("show", "last", "--json")
    assert status == 1 and json.loads(out)["limits"][0]["holds"] is False


def test_a_quiet_run_says_a_broken_limit_alone(dbdyno, fake_load, fake_system):
    status, out, err = dbdyno(*RUN, "--quiet", "--set", "limits.throughput=> 5000/s")
    assert (status, out) == (1, "") and err.startswith("dbdyno: Limit broken: throughput > 5000/s")


def test_what_is_no_limit_is_refused_before_anything_runs(run):
    status, out, err = run("limits.p99=10")
    assert (status, out) == (2, "") and 'write e.g. p99 = "< 10ms"' in err
