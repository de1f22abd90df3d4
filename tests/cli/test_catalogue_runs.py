"""Every shipped experiment, at its small size on a store that takes little, from its file to its report."""

import html
import json
from pathlib import Path

import pytest

from dbdyno.conduct.clients import driven
from dbdyno.experiment.read import read_experiment
from dbdyno.experiment.shipped_files import shipped_experiments
from dbdyno.experiment.system_spec import parse_system
from dbdyno.experiment.trials import expand
from helpers import need, need_program

LONGER = ("game", "quickstart")
"""Those that measure for more than a minute at small size: thirteen arrangements, and a demonstration's whole sweep."""
PROGRAMS = {"sysbench": "sysbench", "dump-restore": "sqlite3"}
USUAL = ("--system", "sqlite")
CHEAP = {
    "access-paths": ("--system", "redis", "--set", "workload=point-get", "--set", 'network_delay_us=[0, "200us"]'),
    "air-traffic": ("--system", "duckdb"),
    "batch-get": (*USUAL, "--set", "options.batch=100"),
    "client-library": ("--system", "redis", "--set", 'client=["native", "redis-py"]'),
    "connection-memory": ("--system", "redis"),
    "connections": ("--system", "redis"),
    "disturbance": (*USUAL, "--set", "events=[]"),
    "dump-restore": (*USUAL, "--set", "options.tool=sql", "--set", "options.workers=1"),
    "embedded-engines": ("--system", "lmdb"),
    "facebook-etc": ("--system", "memcached"),
    "facebook-usr": ("--system", "redis"),
    "insert-indexes": (*USUAL, "--set", "options.indexes=3"),
    "multi-master": ("--system", "galera?nodes=2", "--set", "workload=replication-lag"),
    "oltp": (*USUAL, "--set", "options.set=read_write"),
    "result-cache": ("--system", "result-cache(memcached*2, mariadb)", "--set", "options.updates_percent=10"),
    "server-cores": ("--system", "redis"),
    "sysbench": ("--system", "mariadb"),
    "twitter-cache": ("--system", "redis", "--set", "workload=twitter-52"),
    "trx-lifecycle": (*USUAL, "--set", "options.transaction=read-write"),
    "wide-rows": ("--system", "duckdb", "--set", "options.layout=tinyints"),
}
"""The variants to run of experiments that SQLite does not do, or that have many variants."""
SHORT = ("--clients", "1", "--seconds", "1", "--warmup", "0", "--set", "ceiling=false", "--quiet")


def servers_of(spec):
    return [spec.name, *(name for part in spec.parts for name in servers_of(part))]


# A cluster's second node waits for seconds until it may join.
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", sorted(shipped_experiments()))
def test_it_runs_at_small_size_to_the_end(name, dbdyno):
    options = CHEAP.get(name, USUAL)
    need(*servers_of(parse_system(options[1])))
    if program := PROGRAMS.get(name):
        need_program(program, program)
    # Groups of clients have numbers of their own.
    short = SHORT[2:] if read_experiment(name).experiment.groups else SHORT
    assert dbdyno("run", name, *options, *short) == (0, "", "")
    (report,) = Path("runs").glob("*/report.html")
    assert read_experiment(name).experiment.question in html.unescape(report.read_text())
    run = json.loads(dbdyno("show", "last", "--json")[1])
    assert run["state"] == "complete" and run["trials"]
    assert all(trial["state"] == "complete" for trial in run["trials"])
    # Tools copy rows, and no client has a transaction.
    assert name == "dump-restore" or all(trial["transactions"] > 0 for trial in run["trials"])
    # A system of the file may have rows of its own.
    variants = read_experiment(name, {"scale": "small", "system": [options[1]]}).experiment.variants
    assert {trial["rows"] for trial in run["trials"]} == {variant.rows for variant in variants}


@pytest.mark.parametrize("name", sorted(set(shipped_experiments()) - set(LONGER)))
def test_its_small_size_measures_for_a_minute_at_most(name):
    experiment = read_experiment(name, {"scale": "small"}).experiment
    trials = sum(len(preparation.trials) for preparation in expand(experiment, driven(experiment)))
    assert trials * (experiment.warmup_seconds + experiment.seconds) <= 60
