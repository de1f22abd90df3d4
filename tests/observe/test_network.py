"""Bytes over the loopback interface count, and connections that nobody accepts."""

import socket
from contextlib import ExitStack

from dbdyno.observe.network import NetworkSampler


def test_what_is_sent_is_seen():
    sampler = NetworkSampler()
    before = sampler.sample()
    with socket.socket() as listener, socket.socket() as client:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        client.connect(listener.getsockname())
        accepted, _ = listener.accept()
        with accepted:
            client.sendall(b"x" * 100_000)
            received = 0
            while received < 100_000:
                received += len(accepted.recv(1 << 17))
    after = sampler.sample()
    for way in ("received", "sent"):
        assert after[f"network.{way}_bytes_total"] - before[f"network.{way}_bytes_total"] >= 100_000
    assert after["network.tcp_retransmits_total"] >= before["network.tcp_retransmits_total"]


def test_connections_that_find_a_queue_full_are_counted():
    sampler = NetworkSampler()
    before = sampler.sample()["network.listen_overflows_total"]
    with ExitStack() as opened:
        listener = opened.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        for _ in range(4):
            client = opened.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(listener.getsockname())
    assert sampler.sample()["network.listen_overflows_total"] > before
