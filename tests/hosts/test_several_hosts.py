"""The guide docs/several-hosts.md, followed in network namespaces with real stores."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from dbdyno.leftovers.processes import start_time
from dbdyno.results.read import read_trial
from helpers import need, wait_until
from hosts.namespaces import CONDUCTOR, Hosts, need_namespaces

pytestmark = [pytest.mark.systems, pytest.mark.timeout(600)]

DBDYNO = (sys.executable, "-P", "-m", "dbdyno")


@pytest.fixture
def hosts():
    need_namespaces()
    need("redis")
    with Hosts(["c1", "c2", "s1"]) as hosts:
        yield hosts


@pytest.fixture
def join(hosts, tmp_path):
    """Do what the guide says, with a folder for each host; returns a function that starts the worker of a host."""
    certificates = tmp_path / "certificates"
    subprocess.run([*DBDYNO, "hosts", "init", "c1", "c2", "s1", "--directory", certificates], check=True)
    address = f"tls://{hosts.addresses[CONDUCTOR]}:8786"

    def start(name, role, *options):
        command = [*DBDYNO, "worker", address, "--name", name, "--role", role, *options]
        environment = {**os.environ, "DBDYNO_STATE_DIR": str(tmp_path / name)}
        with (tmp_path / f"{name}.log").open("w") as log:
            return hosts.start(
                name, *command, "--certificates", str(certificates), stdout=log, stderr=log, env=environment
            )

    table = f'address = "{address}"\nclient = ["c1", "c2"]\ncertificates = "{certificates}"\nwait_seconds = 120\n'
    (tmp_path / "hosts.toml").write_text(table)
    for name in ("c1", "c2"):
        start(name, "client")
    return start


@pytest.fixture
def conduct(hosts, join, tmp_path):
    """Return a function that runs a workload on the conductor."""

    def start(workload, *options):
        command = [*DBDYNO, "run", workload, "--hosts", str(tmp_path / "hosts.toml"), "--rows", "100"]
        command += ["--out", str(tmp_path / "runs"), "--set", "host=false", *options]
        return hosts.start(CONDUCTOR, *command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    return start


@pytest.fixture
def run(hosts, conduct, tmp_path):
    """Return a function that runs `game` on a store that all hosts reach."""
    address = hosts.addresses[CONDUCTOR]
    redis = ["redis-server", "--bind", address, "--port", "6379", "--save", "", "--protected-mode", "no"]
    with (tmp_path / "redis.log").open("w") as log:
        hosts.start(CONDUCTOR, *redis, stdout=log)
    return lambda *options: conduct("game", "--system", f"redis://{address}:6379", *options)


@pytest.fixture
def serve(join, conduct, tmp_path):
    """Return a function that runs a workload with the server on s1, and the worker of s1."""
    with (tmp_path / "hosts.toml").open("a") as table:
        table.write('server = "s1"\n')
    worker = join("s1", "server")
    return conduct, worker


def trial_of(tmp_path: Path) -> Path:
    (folder,) = (tmp_path / "runs").glob("*/trials/*")
    return folder


def test_two_hosts_issue_the_load_of_one_trial(run, tmp_path):
    running = run("--clients", "3", "--seconds", "2")
    said = running.communicate()[0].decode()
    assert running.returncode == 0, said
    folder = trial_of(tmp_path)
    about = json.loads((folder / "trial.json").read_text())
    assert about["state"] == "complete"
    assert [(host["hostname"], host["clients"]["count"]) for host in about["hosts"]] == [("c1", 2), ("c2", 1)]
    assert all(abs(host["start_skew_s"]) < 0.1 for host in about["hosts"])
    records = [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]
    parts = [
        json.loads(line) for path in folder.glob("hosts/*/records.jsonl") for line in path.read_text().splitlines()
    ]
    (total,) = (record for record in records if record["record"] == "total")
    totals = [record for record in parts if record["record"] == "total"]
    assert total["transactions"]["completed"] == sum(part["transactions"]["completed"] for part in totals)
    assert total["begun_late_s"] == max(part["begun_late_s"] for part in totals) > 0
    # What a host says of its start is when its last thread was awake.
    assert max(host["start_skew_s"] for host in about["hosts"]) > total["begun_late_s"] / 2
    checks = [record for record in records if record["record"] == "check"]
    assert checks and all(record["ok"] is True for record in checks)


def test_clients_of_a_host_connect_from_each_of_its_addresses(run, join, hosts, tmp_path):
    own = [hosts.addresses["s1"], hosts.add_address("s1")]
    table = tmp_path / "hosts.toml"
    table.write_text(table.read_text().replace('["c1", "c2"]', '["s1"]'))
    join("s1", "client", *(word for address in own for word in ("--source-address", address)))
    running = run("--clients", "6", "--seconds", "600")
    wait_until_long(lambda: all(connected_from(hosts, address) == 3 for address in own))
    running.send_signal(signal.SIGINT)
    said = running.communicate()[0].decode()
    assert running.returncode == 130, said


def connected_from(hosts, address) -> int:
    """Return how many connections the Redis on the conductor has from an address."""
    listed = ["ss", "-tnH", "state", "established", f"sport = :6379 and dst {address}"]
    space = ["ip", "netns", "exec", hosts.space(CONDUCTOR)]
    return len(subprocess.run([*space, *listed], check=True, capture_output=True, text=True).stdout.splitlines())


def test_a_host_whose_link_is_cut_makes_the_trial_invalid(run, hosts, tmp_path):
    running = run("--clients", "2", "--seconds", "600")
    live = [tmp_path / "runs"]
    wait_until_long(
        lambda: [path for path in live[0].glob("*/trials/*/hosts/*/live.jsonl") if "interval" in path.read_text()]
    )
    hosts.cut("c2")
    said = running.communicate()[0].decode()
    assert running.returncode == 1, said
    about = json.loads((trial_of(tmp_path) / "trial.json").read_text())
    assert about["state"] == "failed" and about["reason"].startswith("host c2: lost: ")
    assert [host["lost"] for host in about["hosts"]] == [False, True]
    wait_until(lambda: not load_clients(tmp_path))


@pytest.mark.parametrize(("workload", "systems"), [("point-get", ["redis", "mariadb"]), ("game", ["mariadb", "redis"])])
def test_a_server_is_started_and_observed_on_its_host(serve, hosts, tmp_path, workload, systems):
    need(*systems)
    start, _ = serve
    chosen = [word for name in systems for word in ("--system", name)]
    running = start(workload, "--clients", "2", "--seconds", "2", *chosen)
    said = running.communicate()[0].decode()
    assert running.returncode == 0, said
    folders = sorted((tmp_path / "runs").glob("*/trials/*"))
    assert len(folders) == 2
    for folder in folders:
        trial = read_trial(folder)
        name = trial.about["servers"][0]["name"]
        assert trial.state == "complete" and name in systems
        roles = [(host["hostname"], host["role"]) for host in trial.about["hosts"]]
        assert roles == [("c1", "client"), ("c2", "client"), ("s1", "server")]
        assert any(hosts.addresses["s1"] in option for option in trial.about["servers"][0]["started_with"])
        assert {f"process.{name}.cpu_user_s_total", "host.cpu_user_s_total"} <= set(trial.observations.columns)
        assert trial.about["data_bytes"] is not None and trial.about["server_counters"][name]["after"]
        assert (folder / f"server-{name}.log").exists()
        assert all(start_time(pid) is None for pid in trial.about["server_pids"].values())
        assert trial.judged is not None
    assert wait_until(lambda: not list((tmp_path / "s1").glob("*.journal")))


def begun(tmp_path: Path) -> dict[str, int]:
    """Wait until a trial's clients are at work, and return its servers, name to pid."""
    wait_until_long(
        lambda: [path for path in tmp_path.glob("runs/*/trials/*/hosts/*/live.jsonl") if "interval" in path.read_text()]
    )
    return json.loads((trial_of(tmp_path) / "trial.json").read_text())["server_pids"]


@pytest.mark.parametrize("name", ["redis", "mariadb"])
def test_a_server_that_is_killed_on_its_host_makes_the_trial_invalid(serve, tmp_path, name):
    need(name)
    start, _ = serve
    running = start("game", "--clients", "2", "--seconds", "600", "--system", name)
    (pid,) = begun(tmp_path).values()
    os.kill(pid, signal.SIGKILL)
    said = running.communicate()[0].decode()
    assert running.returncode == 1, said
    about = json.loads((trial_of(tmp_path) / "trial.json").read_text())
    assert about["state"] == "failed"
    assert about["reason"] == f"host s1: {name} was killed by SIGKILL during the trial"
    assert wait_until(lambda: not list((tmp_path / "s1").glob("*.journal")))


@pytest.mark.parametrize("how", ["killed", "cut off"])
def test_a_server_host_that_is_lost_stops_its_server_by_itself(serve, hosts, tmp_path, how):
    start, worker = serve
    running = start("game", "--clients", "2", "--seconds", "600", "--system", "redis")
    (pid,) = begun(tmp_path).values()
    if how == "killed":
        for process in workers_of(worker):
            process.kill()
    else:
        hosts.cut("s1")
    assert wait_until(lambda: start_time(pid) is None, 20.0)
    said = running.communicate()[0].decode()
    assert running.returncode == 1, said
    about = json.loads((trial_of(tmp_path) / "trial.json").read_text())
    assert about["state"] == "failed" and about["reason"].startswith("host s1: lost: ")
    assert wait_until(lambda: not list((tmp_path / "s1").glob("*.journal")))


def workers_of(process) -> list[psutil.Process]:
    """Return the process `dbdyno worker`, without its agent."""
    every = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
    return [some for some in every if "worker" in some.cmdline() and "--role" in some.cmdline()][-1:]


def wait_until_long(condition) -> None:
    """Wait as often as a run with two hosts may take to begin."""
    for attempt in range(4):
        try:
            wait_until(condition)
            return
        except AssertionError:
            if attempt == 3:
                raise


def load_clients(tmp_path: Path) -> list[str]:
    """Return the load clients that still write below the folder of a worker of this test."""
    links = [Path(f"/proc/{pid}/fd/2") for pid in os.listdir("/proc") if pid.isdecimal()]
    return [str(link) for link in links if str(tmp_path) in _target(link)]


def _target(link: Path) -> str:
    try:
        target = os.readlink(link)
    except OSError:
        return ""
    return target if target.endswith("load.log") else ""
