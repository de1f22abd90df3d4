"""Plans are as docs/contract.md has them: the example there and ours have the same keys."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from dbdyno.conduct.clients import driven
from dbdyno.conduct.plan import (
    CONTRACT,
    MEASURE,
    OWN_DATABASE,
    Plan,
    in_slice,
    make_ceiling_plan,
    make_cleaning_plan,
    make_plan,
    make_trial_plan,
    store_of,
)
from dbdyno.experiment.trials import expand
from dbdyno.load_sysbench.database import DATABASE
from helpers import experiment, system, workload

CONTRACT_TEXT = (Path(__file__).parents[2] / "docs" / "contract.md").read_text()


def documented_plan():
    return json.loads(re.search(r"## The plan\s+```json\n(.*?)```", CONTRACT_TEXT, re.DOTALL)[1])


def test_the_version_is_the_documented_one():
    assert f"Version: `{CONTRACT}`" in CONTRACT_TEXT


def test_a_plan_has_the_documented_keys():
    keys = {"seconds": 7, "options": {"access": "sequential"}, "cpus": {"client": [0]}, "seed": 5}
    wanted = experiment(**keys).experiment
    plan = make_plan(wanted, "run-1", MEASURE, {"kind": "fake"}, wanted.workload[0], 16).document()
    assert plan.keys() == documented_plan().keys()
    assert (plan["phases"], plan["duration_s"], plan["warmup_s"], plan["seed"]) == (["run", "verify"], 7, 1, 5)
    assert plan["clients"] == {"first": 0, "count": 16, "of": 16}
    assert plan["workload"] == {"name": "game", "rows": 10, "options": {"access": "sequential"}}
    assert (plan["cpus"], plan["run_id"]) == ([0], "run-1")


def test_a_trials_plan_has_its_load():
    named = experiment(rate=20_000, arrivals="poisson", clients=[8])
    (trial,) = expand(named.experiment, named.experiment.system)[0].trials
    plan = make_trial_plan(named.experiment, "run-1", {"kind": "fake"}, trial)
    segment = {"seconds": 1, "from_per_s": 20_000, "to_per_s": 20_000}
    document = plan.document()
    assert document["arrivals"] == {"kind": "poisson", "segments": [segment]}
    assert (document["pipeline"], document["clients"]["of"], document["phases"]) == (1, 8, ["run", "verify"])
    alone = make_ceiling_plan(plan, {"kind": "null"}).document()
    assert (alone["arrivals"], alone["store"], alone["duration_s"]) == (None, {"kind": "null"}, 1)


def test_the_load_client_alone_waits_for_no_network():
    named = experiment(network_delay_us="1ms", clients=[8])
    (trial,) = expand(named.experiment, named.experiment.system)[0].trials
    plan = make_trial_plan(named.experiment, "run-1", {"kind": "fake"}, trial)
    assert plan.document()["network_delay_us"] == 1000
    assert make_ceiling_plan(plan, {"kind": "null"}).document()["network_delay_us"] == 0


def test_a_cleaning_plan_has_them_too():
    plan = make_cleaning_plan({"kind": "fake"}, "clean-1").document()
    assert plan.keys() == documented_plan().keys()
    assert (plan["phases"], plan["workload"]) == (["cleanup"], None)


def test_a_client_library_is_named_in_the_plan():
    named = experiment(system="redis", client=["native", "redis-py"])
    trials = [preparation.trials[0] for preparation in expand(named.experiment, driven(named.experiment))]
    plans = [make_trial_plan(named.experiment, "run-1", {"kind": "redis"}, trial) for trial in trials]
    assert [plan.document().get("library") for plan in plans] == [None, "redis-py"]
    assert [trial.name for trial in trials] == ["001-redis-game-c1", "003-redis-via-redis-py-game-c1"]


def test_a_pair_of_libraries_is_named_in_the_plan():
    named = experiment(system="cache-aside(memcached, mariadb)", client="pymemcache+pymysql").experiment
    trial = expand(named, driven(named))[0].trials[0]
    document = make_trial_plan(named, "run-1", {"kind": "cache-aside"}, trial).document()
    assert (document["library"], document["cache_library"]) == ("pymysql", "pymemcache")


def test_a_program_is_given_what_the_native_client_is(tmp_path):
    named = experiment(system="redis", client=["native", str(tmp_path / "mine")], clients=[1])
    trials = [preparation.trials[0] for preparation in expand(named.experiment, driven(named.experiment))]
    native, own = (make_trial_plan(named.experiment, "run-1", {"kind": "redis"}, trial) for trial in trials)
    assert own.document() | {"query_plans": True} == native.document()
    assert (own.program, own.client, native.program) == (str(tmp_path / "mine"), "mine", None)
    assert native.client == "dbdyno-load"


def test_what_sysbench_makes_on_somebody_elses_server_is_in_a_database_of_its_own():
    attached = system("mysql://u@h/d")
    assert store_of(attached, workload("sysbench"), [])["database"] == OWN_DATABASE == DATABASE
    assert store_of(attached, workload("oltp"), [])["database"] == "d"
    wanted = experiment(workload="sysbench").experiment
    plan = make_plan(wanted, "r", MEASURE, {"kind": "fake"}, wanted.workload[0], 2)
    assert plan.library == "sysbench"


@pytest.mark.parametrize(("count", "phases"), [(1, ["run"]), (4, ["run", "verify"])])
def test_a_part_of_the_clients_is_verified_by_another_program(count, phases):
    plan = Plan(("run", "verify"), {}, None, "r", clients=4)
    document = in_slice(plan, 0, count).document()
    assert document["phases"] == phases and document["clients"] == {"first": 0, "count": count, "of": 4}
    assert "changes" not in document and replace(plan, changes={"added": 1}).document()["changes"] == {"added": 1}
