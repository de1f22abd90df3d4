"""The trials that may be used, and why others may not."""

from dataclasses import replace

import pytest

from dbdyno.results.read import read_run
from dbdyno.results.usable import compared_rate_per_s, unusable
from synthetic_run import SYSTEMS, write_run

FAULTS = {("sqlite", 4): "mismatch", ("lmdb", 4): "killed", ("mariadb", 4): "server-died"}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "faults"
    return read_run(write_run(folder, SYSTEMS[:3], clients=(1, 4), seconds=12, faults=FAULTS))


def test_what_may_not_be_used(run):
    reasons = {(trial.label, trial.about["clients"]): unusable(trial) for trial in run.trials if trial.system}
    assert reasons["mariadb", 1] is None
    assert reasons["mariadb", 4].startswith("failed: mariadb was killed")
    assert reasons["lmdb", 4].startswith("interrupted")
    assert reasons["sqlite", 4].startswith("failed")
    unfailed = next(replace(trial, state="complete") for trial in run.trials if "mismatch" in str(unusable(trial)))
    assert unusable(unfailed) == "1 answers were wrong"


def test_a_trial_is_compared_by_its_steady_state_where_it_has_one(run, tmp_path):
    short = run.trials[0]
    assert compared_rate_per_s(short) == short.recorded.throughput_per_s
    faults = {("mariadb", 1): "slow-start"}
    folder = write_run(tmp_path / "long", SYSTEMS[2:3], clients=(1,), seconds=120, faults=faults)
    (trial,) = (folder / "trials").iterdir()
    (trial / "trial.json").write_text((trial / "trial.json").read_text().replace('"auto"', "null"))
    (long,) = read_run(folder).trials
    assert compared_rate_per_s(long) == long.recorded.steady.mean_per_s > 1.1 * long.recorded.throughput_per_s
