"""Bytes over the loopback interface count."""

import socket

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
