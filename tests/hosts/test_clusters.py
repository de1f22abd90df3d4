"""Systems of several servers, each on a host of its own, in network namespaces."""

import json
import os
import signal

import pytest

from dbdyno.leftovers.processes import start_time
from dbdyno.results.observations import HOSTS, read_observations
from dbdyno.results.read import read_trial
from helpers import need, wait_until
from hosts.namespaces import need_namespaces
from hosts.stage import Stage

pytestmark = [pytest.mark.systems, pytest.mark.timeout(600)]

CLIENTS, SERVERS = ["c1", "c2", "c3"], ["s1", "s2"]


@pytest.fixture
def stage(tmp_path):
    need_namespaces()
    with Stage(tmp_path, CLIENTS, SERVERS) as stage:
        yield stage


def check_hosts(stage, folder, servers):
    """Check that a trial has every host's part, and that its servers, name to host, ran and were observed there."""
    trial = read_trial(folder)
    assert trial.state == "complete", trial.reason
    hosts = {host["name"]: host for host in trial.about["hosts"]}
    assert list(hosts) == [*CLIENTS, *dict.fromkeys(servers.values())]
    assert [hosts[name]["clients"]["count"] for name in CLIENTS] == [2, 2, 2]
    assert {server: name for name, host in hosts.items() for server in host.get("servers", ())} == servers
    started = {server["name"]: server["started_with"] for server in trial.about["servers"]}
    for server, name in servers.items():
        # PgBouncer has its address in a file.
        assert server == "pgbouncer" or any(stage.hosts.addresses[name] in option for option in started[server])
        assert f"process.{server}.cpu_user_s_total" in trial.observations.columns
        assert trial.about["server_counters"][server]["after"]
        # Memcached logs nothing.
        assert (folder / f"server-{server}.log").exists() == (server != "memcached")
        if len(servers) > 1:
            own = read_observations(folder / HOSTS / name)
            assert {"host.cpu_user_s_total", f"process.{server}.cpu_user_s_total"} <= set(own.columns)
    assert all(start_time(pid) is None for pid in trial.about["server_pids"].values())
    assert trial.judged is not None and all(host["link"]["sends_bytes_per_s"] > 1e6 for host in hosts.values())
    assert all(len(hosts[name]["network"]["paths"]) == len(servers) for name in CLIENTS)


def test_one_report_has_every_host_of_every_system(stage, tmp_path):
    need("mariadb", "redis", "galera")
    chosen = ["--system", "mariadb", "--system", "redis", "--system", "galera?nodes=2"]
    stage.run("game", "--clients", "6", "--seconds", "3", "--rows", "200", *chosen)
    folders = {json.loads((path / "trial.json").read_text())["system"]: path for path in stage.trials()}
    check_hosts(stage, folders["mariadb"], {"mariadb": "s1"})
    check_hosts(stage, folders["redis"], {"redis": "s1"})
    check_hosts(stage, folders["galera"], {"galera-1": "s1", "galera-2": "s2"})
    (report,) = tmp_path.glob("runs/*/report.html")
    drawn = report.read_text()
    assert all(f'<td class="left">{name}</td>' in drawn for name in (*CLIENTS, *SERVERS))
    assert wait_until(stage.is_clean)


@pytest.mark.parametrize(
    ("system", "servers"),
    [
        ("replicated(mariadb*2)", {"replicated-1": "s1", "replicated-2": "s2"}),
        ("cache-aside(memcached, mariadb)", {"memcached": "s1", "mariadb": "s2"}),
        ("via(pgbouncer, postgresql)", {"pgbouncer": "s1", "postgresql": "s2"}),
        ("mariadb?engine=Spider", {"spider-front": "s1", "spider-backend-1": "s2"}),
    ],
)
def test_each_server_of_an_arrangement_has_its_host(stage, system, servers):
    need(system)
    stage.run("point-get", "--clients", "6", "--seconds", "2", "--rows", "200", "--system", system)
    (folder,) = stage.trials()
    check_hosts(stage, folder, servers)
    assert wait_until(stage.is_clean)


def test_a_node_that_is_killed_is_named_with_its_host(stage):
    need("galera")
    running = stage.start("game", "--clients", "6", "--seconds", "600", "--rows", "200", "--system", "galera?nodes=2")
    stage.wait_for(lambda: [path for path in stage.trials() if "interval" in live_of(path)])
    (folder,) = stage.trials()
    pids = json.loads((folder / "trial.json").read_text())["server_pids"]
    os.kill(pids["galera-2"], signal.SIGKILL)
    said = running.communicate()[0].decode()
    assert running.returncode == 1, said
    assert "host s2: galera-2 was killed by SIGKILL" in read_trial(folder).reason
    assert wait_until(stage.is_clean)


def live_of(folder) -> str:
    """Return what client hosts told of a trial so far."""
    return "".join(path.read_text() for path in folder.glob("hosts/*/live.jsonl"))


def test_an_event_restarts_the_server_on_its_host(stage, tmp_path):
    need("mariadb")
    experiment = tmp_path / "restart.toml"
    experiment.write_text(
        'workload = "point-get"\nsystem = "mariadb"\nrows = 200\nclients = 6\nseconds = 15\nwarmup_seconds = 0\n'
        '[[events]]\nat = 3\naction = "restart"\n'
    )
    stage.run(str(experiment))
    (folder,) = stage.trials()
    trial = read_trial(folder)
    (event,) = trial.about["events"]
    assert (event["state"], trial.state) == ("ok", "complete"), event
    assert trial.recorded.run_began_unix_s + 2 < event["began_unix_s"] < trial.recorded.run_began_unix_s + 10
    assert wait_until(stage.is_clean)


def test_an_interrupted_run_is_continued_with_the_trials_that_are_missing(stage):
    need("redis")
    running = stage.start("point-get", "--system", "redis", "--rows", "200", "--clients", "3,6", "--seconds", "4")
    stage.wait_for(lambda: len(stage.trials()) == 2 and "interval" in live_of(stage.trials()[1]))
    running.kill()
    stage.wait_for(stage.is_clean)
    first, _ = stage.trials()
    kept = (first / "records.jsonl").stat().st_mtime_ns
    resumed = stage.start_on_conductor("run", "--resume", str(first.parents[1]))
    said = resumed.communicate()[0].decode()
    assert resumed.returncode == 0, said
    trials = [read_trial(folder) for folder in stage.trials() if (folder / "records.jsonl").exists()]
    assert [trial.facts.clients for trial in trials if trial.state == "complete"] == [3, 6]
    assert (first / "records.jsonl").stat().st_mtime_ns == kept
    assert wait_until(stage.is_clean)


def test_a_full_link_is_named_with_its_host(stage):
    need("redis")
    for name in CLIENTS:
        stage.hosts.shape(name, "tbf", "rate", "16mbit", "burst", "32k", "latency", "50ms")
    options = ["--set", "options.batch=[100]", "--clients", "24", "--seconds", "6", "--rows", "2000"]
    stage.run("batch-get", "--system", "redis", *options)
    (folder,) = stage.trials()
    verdict = read_trial(folder).judged.verdict
    assert verdict.limit == "network", verdict.sentence
    assert all(f"{name} received" in verdict.sentence for name in CLIENTS), verdict.sentence
