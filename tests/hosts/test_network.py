"""Round trips as the kernel measures them, and what a trial says of a client host's network."""

import asyncio
import socket

import pytest

from dbdyno.hosts.network import RECEIVED, RETRANSMITS, ROUND_TRIP, SENT, describe_network, round_trip_s
from dbdyno.results.samples import AT
from dbdyno.systems.running.ports import free_port


def test_a_round_trip_is_measured_without_the_other_program():
    # It listens and never accepts: the kernels open the connection by themselves.
    with socket.create_server(("127.0.0.1", 0)) as listening:
        took_s = asyncio.run(round_trip_s("127.0.0.1", listening.getsockname()[1]))
    assert 0 < took_s < 1


def test_where_nobody_listens_nothing_is_measured():
    assert asyncio.run(round_trip_s("127.0.0.1", free_port())) is None


def row(at_s, round_trip_ms, bytes_sent=0, again=0):
    seen = {AT: at_s, SENT: bytes_sent, RECEIVED: 2 * bytes_sent, RETRANSMITS: 7 + again}
    return seen | ({ROUND_TRIP: round_trip_ms / 1e3} if round_trip_ms is not None else {})


def test_idle_and_loaded_round_trips_are_told_apart():
    rows = [row(8, 0.2), row(9, 0.1), row(10, 5, 1000), row(11, None, 2000, 1), row(12, 7, 5000, 3)]
    assert describe_network(rows, 10.0) == {
        "idle_round_trip_us": pytest.approx(150),
        "round_trip_us": pytest.approx(6000),
        "retransmits": 3,
        "sent_bytes_per_s": 2000.0,
        "received_bytes_per_s": 4000.0,
    }


def test_of_a_host_that_was_not_observed_under_load_nothing_is_said():
    assert describe_network([], 10.0) is None
    assert describe_network([row(8, 0.2)], 10.0) is None
    single = describe_network([row(10, None)], 10.0)
    assert (single["round_trip_us"], single["sent_bytes_per_s"]) == (None, None)
