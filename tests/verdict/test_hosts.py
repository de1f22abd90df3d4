"""Evidence of a trial on several server hosts is taken host by host, and names the host."""

from dataclasses import replace

import pytest

from dbdyno.results.observations import HOSTS
from dbdyno.results.observations_table import write_table
from dbdyno.verdict.budget import time_budget
from dbdyno.verdict.decision import limited
from dbdyno.verdict.evidence import Measured, full_links
from dbdyno.verdict.hosts import by_host, named
from dbdyno.verdict.judge import judge

from .made import BUSY_HOST, IDLE_HOST, host, observed, process, thread, trial, waits

NODES = {"s1": "galera-1", "s2": "galera-2"}
SERVERS = [{"name": host, "role": "server", "machine": host, "servers": [node]} for host, node in NODES.items()]
CLIENTS = [{"name": "c1", "machine": "c1", "network": {"sent_bytes_per_s": 9.5e6, "received_bytes_per_s": 1e6}}]


def node(name, cpu, states):
    """Columns of a node and its host."""
    threads = waits(name, cpu=cpu, cpu_wait=7 * cpu, client=max(0.0, 15 - 8 * cpu))
    return threads | process(name, cpu=cpu, queue=3 * cpu) | host(states)


@pytest.fixture
def cluster(tmp_path):
    """Return a function that makes a trial of two nodes from the columns of their hosts."""

    def make(**columns):
        for name, of_host in columns.items():
            folder = tmp_path / HOSTS / name
            folder.mkdir(parents=True)
            write_table(folder / "observations.parquet", observed(of_host))
        servers = [{"name": node} for node in NODES.values()]
        both = columns["s2"] | columns["s1"]
        made = trial(both, servers=servers, hosts=[*CLIENTS, *SERVERS], state="complete")
        copy = replace(made, folder=tmp_path)
        object.__setattr__(copy, "observations", made.observations)
        return copy

    return make


def test_a_trial_on_one_host_is_not_divided():
    measured = Measured.of(trial(host(IDLE_HOST)))
    assert by_host(measured) == [("", measured)]
    assert list(named("", ["it was full"])) == ["it was full"]


def test_one_server_host_has_all_that_was_observed():
    measured = Measured.of(trial(host(IDLE_HOST), hosts=[*CLIENTS, SERVERS[0]]))
    assert by_host(measured) == [("s1", measured)]


def test_each_host_has_its_own_servers_and_processors(cluster):
    made = cluster(s1=node("galera-1", 0.2, IDLE_HOST), s2=node("galera-2", 1.9, BUSY_HOST))
    (first, own), (second, other) = by_host(Measured.of(made))
    # The clients stay known: they may share a kernel with the host.
    assert [[host["name"] for host in each.trial.facts.hosts] for each in (own, other)] == [["s1", "c1"], ["s2", "c1"]]
    assert (first, own.trial.server_names, second, other.trial.server_names) == (
        "s1",
        ("galera-1",),
        "s2",
        ("galera-2",),
    )
    assert own.rate("host.cpu_user_s_total") == pytest.approx(0.3)
    assert other.rate("host.cpu_user_s_total") == pytest.approx(1.7)


def test_the_full_host_is_named(cluster):
    made = cluster(s1=node("galera-1", 0.2, IDLE_HOST), s2=node("galera-2", 1.9, BUSY_HOST))
    said = limited(made, time_budget(made))
    assert said.limit == "server-cpu"
    assert said.signs[0].startswith("on s2, the host's 2 processors were full: galera-2 95%")
    assert "on s1" not in judge(made).verdict.sentence


def test_the_one_server_host_is_named_too():
    seen = thread("redis-server", 0.95, 0.02) | waits("redis", cpu=0.97) | host(IDLE_HOST) | process("redis", cpu=0.97)
    made = trial(seen, servers=[{"name": "redis"}], hosts=[*CLIENTS, SERVERS[0]])
    assert limited(made, time_budget(made)).signs == (
        "on s1, its thread 'redis-server' was busy 97% of the time (95% on a CPU)",
    )


def test_a_neighbour_is_named_with_its_host(cluster):
    quiet = {"user": 0.9, "system": 0.0, "iowait": 0.0, "steal": 0.0, "idle": 1.1}
    made = cluster(s1=node("galera-1", 0.2, IDLE_HOST), s2=node("galera-2", 0.2, quiet))
    assert "on s2, other processes used 0.70 of the host's 2 processors" in judge(made).verdict.evidence
    assert judge(made).others_cores == pytest.approx(0.7)


@pytest.mark.parametrize(("carried", "full"), [(10.0e6, True), (10.7e6, False), (None, False)])
def test_a_client_host_whose_link_is_full_is_named(carried, full):
    link = {"sends_bytes_per_s": carried, "receives_bytes_per_s": 100e6}
    idle = waits(client=15.5, cpu=0.5) | host(IDLE_HOST)
    made = trial(idle, hosts=[CLIENTS[0] | {"link": link}, SERVERS[0]])
    said = limited(made, time_budget(made))
    assert (said.limit == "network") == full
    if full:
        sign = "c1 sent 9.5 MB/s, 95% of the 10.0 MB/s that its link carried before the load"
        assert said.signs == (sign,) and said.confidence == "high"


def test_a_server_host_whose_link_is_full_is_named(cluster):
    quiet = node("galera-1", 0.1, IDLE_HOST) | {"network.sent_bytes_total": 1e6, "network.received_bytes_total": 1e6}
    busy = node("galera-2", 0.1, IDLE_HOST) | {"network.sent_bytes_total": 1e6, "network.received_bytes_total": 9e6}
    made = cluster(s1=quiet, s2=busy)
    link = {"sends_bytes_per_s": 10e6, "receives_bytes_per_s": 9.5e6}
    made.about["hosts"] = [CLIENTS[0], *({**server, "link": link} for server in SERVERS)]
    assert list(full_links(Measured.of(made))) == [
        "s2 received 9.0 MB/s, 95% of the 9.5 MB/s that its link carried before the load"
    ]
