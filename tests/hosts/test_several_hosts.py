"""The guide docs/several-hosts.md, followed in network namespaces with a real store."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import need, wait_until
from hosts.namespaces import CONDUCTOR, Hosts, need_namespaces

pytestmark = [pytest.mark.systems, pytest.mark.timeout(600)]

DBDYNO = (sys.executable, "-P", "-m", "dbdyno")


@pytest.fixture
def hosts():
    need_namespaces()
    need("redis")
    with Hosts(["c1", "c2"]) as hosts:
        yield hosts


@pytest.fixture
def run(hosts, tmp_path):
    """Do what the guide says, with a folder for each host; returns a function that runs an experiment."""
    certificates = tmp_path / "certificates"
    subprocess.run([*DBDYNO, "hosts", "init", "c1", "c2", "--directory", certificates], check=True)
    address = hosts.addresses[CONDUCTOR]
    redis = ["redis-server", "--bind", address, "--port", "6379", "--save", "", "--protected-mode", "no"]
    with (tmp_path / "redis.log").open("w") as log:
        hosts.start(CONDUCTOR, *redis, stdout=log)
    (tmp_path / "hosts.toml").write_text(
        f'address = "tls://{address}:8786"\nclient = ["c1", "c2"]\n'
        f'certificates = "{certificates}"\nwait_seconds = 120\n'
    )
    for name in ("c1", "c2"):
        command = [*DBDYNO, "worker", f"tls://{address}:8786", "--name", name, "--role", "client"]
        environment = {**os.environ, "DBDYNO_STATE_DIR": str(tmp_path / name)}
        with (tmp_path / f"{name}.log").open("w") as log:
            hosts.start(name, *command, "--certificates", str(certificates), stdout=log, stderr=log, env=environment)

    def start(*options):
        command = [*DBDYNO, "run", "game", "--hosts", str(tmp_path / "hosts.toml"), "--rows", "100"]
        command += [
            "--system",
            f"redis://{address}:6379",
            "--out",
            str(tmp_path / "runs"),
            "--set",
            "host=false",
            *options,
        ]
        return hosts.start(CONDUCTOR, *command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    return start


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
    of_total = [record["transactions"]["completed"] for record in records if record["record"] == "total"]
    assert of_total == [sum(record["transactions"]["completed"] for record in parts if record["record"] == "total")]
    checks = [record for record in records if record["record"] == "check"]
    assert checks and all(record["ok"] is True for record in checks)


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
