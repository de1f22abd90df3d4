"""Several nodes, each its own system, shown and driven as one."""

from dbdyno.systems.arrangements.cluster import Cluster
from dbdyno.systems.base import Durability
from fakes.system import FakeSystem
from helpers import system


def cluster(fake_system, levels=("D2", "D2")):
    class Fakes(Cluster):
        name = "fakes"

    nodes = [system("fake") for _ in levels]
    for node, level in zip(nodes, levels, strict=True):
        node.durability = lambda level=level: Durability(level, f"as {level}")
    return Fakes(nodes[0].spec, nodes)


def test_nodes_are_numbered_and_one_store(fake_system):
    both = cluster(fake_system)
    assert [node.server_name for node in both.nodes] == ["fakes-1", "fakes-2"]
    plan = both.store_plan([])
    assert plan["kind"] == "spread" and plan["own_nodes"] == 2 and len(plan["nodes"]) == 2


def test_a_cluster_promises_what_its_weakest_node_does(fake_system):
    assert cluster(fake_system, ("D2", "D1")).durability() == Durability("D1", "as D1, on each of 2 nodes")
    assert cluster(fake_system, ("D2", "unknown")).durability().level == "unknown"


def test_every_setting_of_every_node_is_kept(fake_system):
    both = cluster(fake_system)
    for node in both.nodes:
        node.all_settings = lambda node=node: {node.server_name: {"many": "1"}}
    assert both.all_settings() == {"fakes-1": {"many": "1"}, "fakes-2": {"many": "1"}}


def test_the_last_node_to_come_is_the_first_to_go(fake_system, launch, monkeypatch):
    seen = []
    monkeypatch.setattr(FakeSystem, "start", lambda self, launch: seen.append(f"start {self.server_name}"))
    monkeypatch.setattr(FakeSystem, "stop", lambda self: seen.append(f"stop {self.server_name}"))
    both = cluster(fake_system)
    both.start(launch)
    both.stop()
    assert seen == ["start fakes-1", "start fakes-2", "stop fakes-2", "stop fakes-1"]
