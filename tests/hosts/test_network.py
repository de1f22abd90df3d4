"""Round trips as the kernel measures them, and what a trial says of a client host's network."""

import asyncio
import socket

import pytest

from dbdyno.hosts.network import RECEIVED, RETRANSMITS, SENT, describe_network, round_trip_s, round_trip_to
from dbdyno.results.samples import AT
from dbdyno.systems.running.ports import free_port


def test_a_round_trip_is_measured_without_the_other_program():
    # It listens and never accepts: the kernels open the connection by themselves.
    with socket.create_server(("127.0.0.1", 0)) as listening:
        took_s = asyncio.run(round_trip_s("127.0.0.1", listening.getsockname()[1]))
    assert 0 < took_s < 1


def test_where_nobody_listens_nothing_is_measured():
    assert asyncio.run(round_trip_s("127.0.0.1", free_port())) is None


CAPACITY = {"sends_bytes_per_s": 1e9, "receives_bytes_per_s": None}
PATHS = {"s1": CAPACITY}


def row(at_s, round_trip_ms, bytes_sent=0, again=0):
    seen = {AT: at_s, SENT: bytes_sent, RECEIVED: 2 * bytes_sent, RETRANSMITS: 7 + again}
    return seen | ({round_trip_to("s1"): round_trip_ms / 1e3} if round_trip_ms is not None else {})


def test_idle_and_loaded_round_trips_are_told_apart():
    rows = [row(8, 0.2), row(9, 0.1), row(10, 5, 1000), row(11, None, 2000, 1), row(12, 7, 5000, 3)]
    assert describe_network(rows, 10.0, PATHS) == {
        "idle_round_trip_us": pytest.approx(150),
        "round_trip_us": pytest.approx(6000),
        "retransmits": 3,
        "sent_bytes_per_s": 2000.0,
        "received_bytes_per_s": 4000.0,
        "paths": [
            {
                "server": "s1",
                "idle_round_trip_us": pytest.approx(150),
                "round_trip_us": pytest.approx(6000),
                "capacity": CAPACITY,
            },
        ],
    }


def test_ways_to_several_server_hosts_are_told_apart():
    rows = [row(at_s, 1) | {round_trip_to("s2"): 0.003} for at_s in (10, 11)]
    network = describe_network(rows, 10.0, dict.fromkeys(["s1", "s2", "s3"], CAPACITY))
    assert [path["round_trip_us"] for path in network["paths"]] == [1000, 3000, None]
    assert network["round_trip_us"] == 2000


def test_of_a_host_that_was_not_observed_under_load_nothing_is_said():
    assert describe_network([], 10.0, {}) is None
    assert describe_network([row(8, 0.2)], 10.0, PATHS) is None
    single = describe_network([row(10, None)], 10.0, PATHS)
    assert (single["round_trip_us"], single["sent_bytes_per_s"]) == (None, None)
