"""The band `network`: bytes over all interfaces, the loopback one too, what TCP sent again, and full queues."""

from dbdyno.observe.procfs import read


class NetworkSampler:
    """Reads `/proc/net/dev`, `/proc/net/snmp` and `/proc/net/netstat` (proc_pid_net(5)), of dbdyno's own namespace."""

    def sample(self) -> dict[str, float]:
        """Return bytes received and sent, segments retransmitted, and connections that found a server's queue full."""
        received = sent = 0
        for line in read("/proc/net/dev").splitlines()[2:]:
            values = line.partition(b":")[2].split()
            received, sent = received + int(values[0]), sent + int(values[8])
        return {
            "network.received_bytes_total": received,
            "network.sent_bytes_total": sent,
            "network.tcp_retransmits_total": _counted("/proc/net/snmp", b"Tcp:", b"RetransSegs"),
            "network.listen_overflows_total": _counted("/proc/net/netstat", b"TcpExt:", b"ListenOverflows"),
        }


def _counted(path: str, group: bytes, name: bytes) -> int:
    """Return a counter of a table with a line of names and a line of values for each group."""
    names, values = (line.split() for line in read(path).splitlines() if line.startswith(group))
    return int(values[names.index(name)])
