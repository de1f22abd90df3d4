"""The band `network`: bytes over all interfaces, the loopback one too, and what TCP had to send again."""

from dbdyno.observe.procfs import read


class NetworkSampler:
    """Reads `/proc/net/dev` and `/proc/net/snmp` (proc_pid_net(5)): of the network namespace dbdyno is in."""

    def sample(self) -> dict[str, float]:
        """Return bytes received and sent, and segments retransmitted."""
        received = sent = 0
        for line in read("/proc/net/dev").splitlines()[2:]:
            values = line.partition(b":")[2].split()
            received, sent = received + int(values[0]), sent + int(values[8])
        names, values = (line.split() for line in read("/proc/net/snmp").splitlines() if line.startswith(b"Tcp:"))
        return {
            "network.received_bytes_total": received,
            "network.sent_bytes_total": sent,
            "network.tcp_retransmits_total": int(values[names.index(b"RetransSegs")]),
        }
