"""A trial whose load comes from several hosts, recorded as that of one."""

import json
import os
import ssl
import subprocess
import sys

import pytest

from dbdyno.conduct.lineup import build_lineup
from dbdyno.conduct.on_hosts import refuse
from dbdyno.conduct.preparation import describe_system
from dbdyno.conduct.trial import Prepared, run_trial
from dbdyno.errors import UserError
from dbdyno.experiment.trials import expand
from dbdyno.hosts import trial as hosts_trial
from dbdyno.hosts.certificates import Certificates, make_certificates
from dbdyno.hosts.crew import Member
from dbdyno.results.observations import HOSTS as HOSTS_FOLDER
from dbdyno.results.read import read_trial
from dbdyno.systems import build
from dbdyno.systems.base import Launch
from helpers import experiment

HOSTS = {"address": "tls://10.0.0.1:8786", "client": ["c1", "c2"]}
WITH_SERVER = HOSTS | {"server": "s1"}
WITH_SERVERS = HOSTS | {"server": ["s1", "s2", "s3"]}


class Crew:
    """Hosts that are there, without a scheduler that they join."""

    def __init__(self, context, members) -> None:
        self.context, self.lost, self._members, self.link_seconds = context, set(), members, 0.0

    def ready(self, interrupted):
        assert not interrupted()
        return self._members


@pytest.fixture
def start_crew(tmp_path, monkeypatch):
    """Return a function that starts two agents on this host and returns them as a crew."""
    monkeypatch.setattr(hosts_trial, "LEAD_S", 0.1)
    make_certificates(tmp_path / "certificates", ["c1", "c2"])
    agents = []

    def start(name):
        command = [sys.executable, "-P", "-m", "dbdyno.hosts.agent", "--host", "127.0.0.1"]
        command += ["--worker", str(os.getpid()), "--program", os.environ["DBDYNO_LOAD"]]
        command += ["--certificates", str(tmp_path / "certificates" / name)]
        command += ["--folder", str(tmp_path / f"records-{name}")]
        agents.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        return Member(name, name, "127.0.0.1", int(agents[-1].stdout.readline()), 2)

    def start_all():
        conductor = Certificates.of(tmp_path / "certificates", "conductor").context(ssl.Purpose.SERVER_AUTH)
        return Crew(conductor, [start("c1"), start("c2")])

    yield start_all
    for agent in agents:
        agent.kill()
        agent.wait()
        agent.stdout.close()


@pytest.fixture
def run(start_crew, context, fake_load, fake_system, guard):
    """Run the trial of two clients on two hosts; returns its outcome and folder."""

    def run_one(clients=2, **behaviour):
        # On one host "run" alone is the measurement of a ceiling.
        fake_load(ceiling_per_s=500, **behaviour)
        running = context(hosts=HOSTS, clients=[clients])
        object.__setattr__(running, "crew", start_crew())
        trial = expand(running.experiment, running.experiment.system)[0].trials[0]
        logs = running.folder.preparation("01-fake")
        system = build(trial.system)
        system.start(Launch(guard, logs, 1, 1))
        facts = describe_system(system, running.experiment, 0.0)
        outcome = run_trial(running, Prepared(system, "01-fake", logs, facts), trial)
        return outcome, running.folder.path / "trials" / trial.name

    return run_one


def test_a_trial_of_two_hosts_is_recorded_as_one(run):
    outcome, folder = run()
    assert (outcome.state, outcome.transactions, outcome.errors) == ("complete", 2000, {})
    trial = read_trial(folder)
    parts = [read_trial(folder / HOSTS_FOLDER / name).recorded for name in ("c1", "c2")]
    assert trial.recorded.completed == sum(part.completed for part in parts) == 2000
    merged = parts[0].service_time.merge(parts[1].service_time)
    assert trial.recorded.service_time.counts.tolist() == merged.counts.tolist()
    assert [check["name"] for check in trial.recorded.checks] == ["rows", "sum of k"]
    hosts = trial.about["hosts"]
    assert [(host["name"], host["clients"]) for host in hosts] == [
        ("c1", {"first": 0, "count": 1}),
        ("c2", {"first": 1, "count": 1}),
    ]
    assert [host["transactions_per_s"] for host in hosts] == [part.throughput_per_s for part in parts]
    assert all(host["load_threads"] and host["link"]["sends_bytes_per_s"] is None for host in hosts)
    assert all(abs(host["clock_before"]["offset_s"]) <= host["clock_before"]["error_s"] for host in hosts)


def test_the_verifier_is_told_what_all_hosts_changed(run):
    _, folder = run()
    plan = json.loads((folder / "verify" / "plan.json").read_text())
    assert plan["phases"] == ["verify"]
    assert plan["changes"] == {
        "before": [None, 5],
        "added": 6,
        "maybe_added": 0,
        "maybe_subtracted": 0,
        "inserted": 0,
        "maybe_inserted": 0,
        "deleted": 0,
        "maybe_deleted": 0,
    }


def test_one_host_verifies_what_it_ran(run):
    outcome, folder = run(clients=1)
    assert outcome.state == "complete" and not (folder / "verify").exists()
    trial = read_trial(folder)
    assert [check["name"] for check in trial.recorded.checks] == ["rows", "sum of k"]
    assert [host["name"] for host in trial.about["hosts"]] == ["c1"]


def test_a_wrong_check_fails_the_trial(run):
    outcome, _ = run(wrong_check=True)
    assert outcome.state == "failed" and "check sum of k: expected 10, found 9" in outcome.reason


def test_a_host_that_fails_is_named_and_nothing_is_merged(run):
    outcome, folder = run(refuse="run")
    assert outcome.state == "failed" and outcome.reason.startswith("host c1: a table dbdyno_player")
    assert not (folder / "records.jsonl").exists()
    assert "live.jsonl" in os.listdir(folder / HOSTS_FOLDER / "c1")


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ({}, "give the URL of a server"),
        ({"system": "redis://localhost:6379"}, "localhost is each host's own"),
        ({"system": "redis://127.0.1.1:6379"}, "127.0.1.1 is each host's own"),
        ({"system": "redis://[::1]:6379"}, "::1 is each host's own"),
        ({"system": "mysql://root@10.0.0.1/test?socket=/run/m.sock"}, "other hosts reach no Unix socket"),
        ({"system": "spread(mysql://a@10.0.0.1/d, mysql://a@localhost/d)"}, "localhost is each host's own"),
        ({"hosts": WITH_SERVER, "system": "sqlite"}, "'sqlite' is started on this host only; .*mariadb.* can be"),
        ({"hosts": WITH_SERVER, "system": "replicated(mariadb*2)"}, "has 2 servers, .*: name 2 server hosts"),
        ({"hosts": WITH_SERVER, "system": "galera"}, "'galera' has 3 servers"),
        ({"hosts": WITH_SERVER, "system": "via(pgbouncer, postgresql)"}, "has 2 servers, .*: name 2 server hosts"),
        ({"hosts": WITH_SERVERS, "system": "via(pgbouncer, postgresql?tls=on)"}, "reached over TCP without TLS"),
        ({"hosts": WITH_SERVERS, "system": "cache-aside(redis?tls=on, mariadb)"}, "leave tls out"),
        ({"hosts": WITH_SERVER, "system": "handlersocket"}, "is started on this host only"),
        ({"hosts": WITH_SERVER, "system": "redis?connect=socket"}, "reach no Unix socket: leave connect out"),
        ({"hosts": WITH_SERVER, "system": "redis?tls=on"}, "certificate is for one host: leave tls out"),
        (
            {"hosts": WITH_SERVER, "system": "mariadb", "events": [{"at": 4, "action": "backup"}], "seconds": 19},
            "'backup' works on one",
        ),
        ({"system": "redis://10.0.0.1:6379", "profile": True}, r"stacks are recorded on server hosts; name one"),
        ({"system": "redis://10.0.0.1:6379", "confirm_limit": True}, "confirm_limit: works on one host only"),
        ({"system": "cache-aside(memcached, mysql://root@10.0.0.1/test)"}, "give the URL of a server"),
    ],
)
def test_what_only_one_host_can_do_is_refused(keys, why):
    asked = experiment(**({"hosts": HOSTS, "system": "redis"} | keys)).experiment
    with pytest.raises(UserError, match=why):
        refuse(asked, asked.system, build_lineup(asked, asked.system))


def test_a_store_that_all_hosts_reach_is_not_refused():
    on_this_host = HOSTS | {"address": "tls://127.0.0.1:8786"}
    for keys in (
        {"hosts": HOSTS, "system": "redis://10.0.0.1:6379"},
        {"hosts": on_this_host, "system": "redis://127.0.0.1:6379"},
        {"hosts": WITH_SERVER, "system": ["redis", "mariadb?connect=tcp", "postgresql", "redis://10.0.0.1:6379"]},
        {
            "hosts": WITH_SERVERS,
            "system": [
                "galera",
                "replicated(mariadb*2)",
                "cache-aside(memcached, mariadb)",
                "redis",
                "via(pgbouncer, postgresql)",
            ],
        },
        {"hosts": WITH_SERVER, "system": "cache-aside(memcached, mysql://root@10.0.0.1/test)"},
        {"system": "redis", "profile": True},
        {"hosts": WITH_SERVER, "system": "redis", "profile": True, "restart": "cold"},
    ):
        asked = experiment(**keys).experiment
        refuse(asked, asked.system, build_lineup(asked, asked.system))
