"""The order of trials, and their folders' names."""

from itertools import product

from dbdyno.experiment.trials import cell_of, cells_of, expand, one_pass, search_step
from helpers import experiment as small


def test_once_systems_then_workloads_then_clients():
    experiment = small(
        workload=["point-get", "game"], system=["sqlite", "cache-aside(memcached, mariadb)"], clients=[4, 1]
    ).experiment
    preparations = expand(experiment, experiment.system)
    assert [preparation.name for preparation in preparations[:3]] == [
        "01-sqlite",
        "02-sqlite",
        "03-cache-aside-memcached-mariadb",
    ]
    names = [trial.name for preparation in preparations for trial in preparation.trials]
    assert len(names) == len(set(names)) == 8
    assert names[:4] == [
        "001-sqlite-point-get-c4",
        "002-sqlite-point-get-c1",
        "003-sqlite-game-c4",
        "004-sqlite-game-c1",
    ]
    assert names[7] == "008-cache-aside-memcached-mariadb-game-c1"


def repeated(**keys):
    """The trials of an experiment on three systems at three loads, in their order."""
    experiment = small(**({"system": ["sqlite", "lmdb", "redis"], "clients": [1, 2, 4], "repeat": 4} | keys)).experiment
    preparations = expand(experiment, experiment.system)
    assert all(len(preparation.trials) == 1 for preparation in preparations)
    return [preparation.trials[0] for preparation in preparations]


def test_repeated_every_trial_has_its_own_preparation_and_every_pass_all_of_them():
    trials = repeated()
    assert [trial.repeat for trial in trials] == [repeat for repeat in (1, 2, 3, 4) for _ in range(9)]
    assert [trial.name[:3] for trial in trials] == [f"{number:03d}" for number in range(1, 37)]
    for repeat in range(4):
        part = trials[9 * repeat : 9 * repeat + 9]
        assert {(trial.system.label, trial.clients) for trial in part} == set(
            product(("sqlite", "lmdb", "redis"), (1, 2, 4))
        )


def test_the_sides_of_a_cell_follow_each_other_and_mirror_the_pass_before():
    trials = repeated()
    blocks = [trials[begin : begin + 3] for begin in range(0, 36, 3)]
    assert all(len({cell_of(trial) for trial in block}) == 1 for block in blocks)
    first, second = trials[:9], trials[9:18]
    assert [(trial.clients, trial.system) for trial in second] == [
        (trial.clients, trial.system) for trial in first[::-1]
    ]
    assert [trial.clients for trial in trials[18:27:3]] != [trial.clients for trial in trials[0:9:3]]


def test_the_seed_decides_the_order():
    names = [trial.name for trial in repeated(seed=7)]
    assert names == [trial.name for trial in repeated(seed=7)] != [trial.name for trial in repeated(seed=8)]


def test_a_further_pass_of_some_cells_is_named_on_from_the_others():
    experiment = small(system=["sqlite", "lmdb"], clients=[1, 2], repeat=2).experiment
    planned = expand(experiment, experiment.system)
    (first, other) = one_pass(experiment, experiment.system, [cells_of(experiment)[1]], 3, planned)
    assert (first.name[:3], first.trials[0].name[:4], other.trials[0].name[:4]) == ("09-", "009-", "010-")
    assert {first.trials[0].clients, other.trials[0].clients} == {2} and first.repeat == 3


def test_pipelines_then_rates_then_clients():
    experiment = small(clients=[1, 4], rate=[500, 1000]).experiment
    names = [trial.name for preparation in expand(experiment, experiment.system) for trial in preparation.trials]
    assert names == [
        "001-fake-game-c1-r500",
        "002-fake-game-c4-r500",
        "003-fake-game-c1-r1000",
        "004-fake-game-c4-r1000",
    ]
    pipelined = small(clients=[1, 4], pipeline=[1, 16]).experiment
    trials = [trial for preparation in expand(pipelined, pipelined.system) for trial in preparation.trials]
    assert [trial.name for trial in trials[1:3]] == ["002-fake-game-c4", "003-fake-game-c1-p16"]
    assert (trials[2].pipeline, trials[2].rate, trials[2].step) == (16, None, None)


def test_shares_of_capacity_come_behind_all_closed_loops_of_their_system():
    keys = {"clients": [1, 4], "rate": ["50%", "90%"]}
    experiment = small(system=["sqlite", "lmdb"], **keys).experiment
    first, other = expand(experiment, experiment.system)
    assert [trial.name[4:] for trial in first.trials] == [
        *("sqlite-game-c1", "sqlite-game-c4", "sqlite-game-r50pct", "sqlite-game-r90pct")
    ]
    assert [trial.rate and trial.rate.share for trial in other.trials] == [None, None, 0.5, 0.9]
    repeated = small(repeat=3, **keys).experiment
    rates = [trial.rate for prepared in expand(repeated, repeated.system) for trial in prepared.trials]
    assert not any(rates[:6]) and all(rates[6:]) and len(rates) == 12


def test_a_rate_search_begins_with_closed_loops_and_names_its_steps_after_them():
    experiment = small(clients=[1, 4], find_rate="p99 < 10ms").experiment
    _, first = expand(experiment, experiment.system)[0].trials
    assert (first.name, first.rate, first.step) == ("002-fake-game-c4", None, 0)
    step = search_step(first, 3, 12_000)
    assert (step.name, step.rate.per_s, step.step) == ("002-fake-game-c4-s03-r12000", (12_000,), 3)
    assert (step.clients, step.system) == (4, first.system)


def test_a_network_delay_is_a_factor_and_in_the_name():
    named = small(clients=[1, 4], network_delay_us=[0, "1ms"]).experiment
    trials = [trial for preparation in expand(named, named.system) for trial in preparation.trials]
    assert [trial.network_delay_us for trial in trials] == [0, 0, 1000, 1000]
    assert trials[3].name.endswith("-c4-d1000") and cell_of(trials[3]) != cell_of(trials[1])


def test_a_restart_prepares_every_trial_for_itself():
    named = small(clients=[1, 4], restart="cold").experiment
    assert [len(preparation.trials) for preparation in expand(named, named.system)] == [1, 1]
