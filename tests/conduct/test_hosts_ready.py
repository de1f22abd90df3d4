"""A host that lacks something is named, with the command that mends it, before anything is started."""

from dataclasses import replace

import pytest

from dbdyno.conduct import hosts_ready as hosts_ready_module
from dbdyno.conduct.hosts_ready import CLIENT_BYTES, check_hosts
from dbdyno.conduct.lineup import build_lineup
from dbdyno.conduct.resolve import Resolved
from dbdyno.errors import UserError
from dbdyno.hosts.crew import Member
from dbdyno.hosts.elsewhere import Elsewhere
from helpers import experiment

TABLE = {"address": "tls://10.0.0.1:8786", "client": ["c1", "c2"]}
CLIENTS = [Member(name, name, "10.0.0.2", 1, 2, open_files=10_000, ports=28_232) for name in ("c1", "c2")]
SERVER = Member("s1", "s1", "10.0.0.3", 1, 2, "server", open_files=100_000)
ROOM = {"directory": "/tmp", "disk_bytes": 10**12, "memory_bytes": 10**12}
NOTHING_LACKS = {"missing": {}, "cpus": [0, 1], "room": ROOM}


def ready(members, clients=2, **keys):
    """Check the hosts of an experiment; the crew is not asked for anything."""
    asked = experiment(hosts=TABLE, clients=[clients], **({"system": "redis://10.0.0.9"} | keys)).experiment
    resolved = Resolved(list(asked.system), [], build_lineup(asked, asked.system))
    check_hosts(asked, resolved, None, members)
    return asked, resolved


@pytest.fixture
def server_says(monkeypatch):
    """Have the server host say of itself what it is given: no host of a test lacks all of that."""

    def say(**about):
        monkeypatch.setattr(hosts_ready_module, "described", lambda *asked: NOTHING_LACKS | about)

    say()
    return say


def test_hosts_that_have_all_it_takes_are_ready():
    asked, resolved = ready(CLIENTS, clients=19_000)
    assert not isinstance(resolved.lineup.find(asked.system[0], asked.workload[0]), Elsewhere)


@pytest.mark.parametrize(
    ("member", "why"),
    [
        (
            {"open_files": 5_000},
            "c1 needs 5,064 open files for 5,000 clients and may have 5,000: run `ulimit -Hn 5064`",
        ),
        (
            {"ports": 4_999},
            r"c1 gets 5,000 clients and has 4,999 ports .* `sysctl -w net.ipv4.ip_local.* --source-address",
        ),
        ({"memory_bytes": 5_000 * CLIENT_BYTES - 1}, "c1 gets 5,000 clients, which may take 164 MB, and has 164 MB"),
    ],
)
def test_a_client_host_that_is_too_small_is_named_with_the_command(member, why):
    with pytest.raises(UserError, match=why):
        ready([replace(CLIENTS[0], **member), CLIENTS[1]], clients=10_000)


def test_an_arrangement_takes_a_connection_to_each_part():
    spread = "spread(mysql://a@10.0.0.1/d, mysql://a@10.0.0.2/d)"
    ready(CLIENTS, clients=9_000, system=spread)
    with pytest.raises(UserError, match="c1 needs 12,064 open files for 12,000 clients"):
        ready(CLIENTS, clients=12_000, system=spread)


def test_a_private_system_goes_to_the_server_host(server_says):
    asked, resolved = ready([*CLIENTS, SERVER], system=["redis", "redis://10.0.0.9"])
    systems = [resolved.lineup.find(spec, asked.workload[0]) for spec in asked.system]
    assert [isinstance(system, Elsewhere) for system in systems] == [True, False]
    assert systems[0].restorable and systems[0].operations == systems[1].operations


def test_what_the_server_host_lacks_is_said(server_says):
    members = [*CLIENTS, SERVER]
    with pytest.raises(UserError, match="s1 needs 2,064 open files for 2,000 connections"):
        ready([*CLIENTS, replace(SERVER, open_files=2_000)], 2_000)
    server_says(missing={"redis": "redis-server is not installed: apt install redis-server"})
    with pytest.raises(UserError, match="redis: on s1, redis-server is not installed: apt install redis-server"):
        ready(members, system="redis")
    server_says(room=ROOM | {"memory_bytes": 1000})
    with pytest.raises(UserError, match=r"redis: 10 rows of game take about .* are free on s1: give fewer --rows"):
        ready(members, system="redis")
    server_says(cpus=[0])
    with pytest.raises(UserError, match="may not use CPU 1 on s1; it may use 0"):
        ready(members, system="redis", cpus={"server": [1]})
