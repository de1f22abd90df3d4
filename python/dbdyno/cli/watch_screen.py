"""The lines that `dbdyno watch` shows of two samples: host, disk, network, processes, threads, store, waits, locks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dbdyno.observe.rates import Rates
from dbdyno.report.core import words

NAME = 9
"""Characters before the items of a block."""
BUSY_THREADS = 6
MOST_LINES = {"store": 6, "waits": 2, "locks": 2, "threads": 2}
"""The most lines of a block; every other block has as many as it needs."""
_CPU = ("user", "system", "iowait", "steal", "idle")
_MIB = 1 << 20
Row = Mapping[str, float]


@dataclass(frozen=True)
class Block:
    """A name, and the items beside it; an item is never broken."""

    name: str
    items: Sequence[str]

    def lines(self, width: int) -> list[str]:
        """Return it in lines of this width; says how many items have no room."""
        lines, most, items = [""], MOST_LINES.get(self.name, len(self.items)), list(self.items)
        while items:
            item = items[0]
            longer = f"{lines[-1]}  {item}" if lines[-1] else item
            if len(longer) <= width - NAME or not lines[-1]:
                lines[-1] = longer
            elif len(lines) < most:
                lines.append(item)
            else:
                lines[-1] = f"{lines[-1][: width - NAME - 10].rstrip()}  +{len(items)}"
                break
            items.pop(0)
        names = [self.name, *[""] * (len(lines) - 1)]
        return [f"{name:<{NAME}}{line}".rstrip() for name, line in zip(names, lines, strict=True)]


def screen(row: Row, rates: Rates, width: int) -> list[str]:
    """Return the lines of a sample; what grew is per second since the sample before."""
    return [line for block in blocks(row, rates) if block.items for line in block.lines(width)]


def blocks(row: Row, rates: Rates) -> Iterator[Block]:
    """Yield every block, also those without items."""
    yield Block("host", list(_host(row, rates)))
    for device in _subjects(row, "disk"):
        yield Block("disk", [device, *_disk(f"disk.{device}", rates)])
    yield Block("network", list(_network(rates)))
    for name in _subjects(row, "process"):
        yield Block("process", [name, *_process(f"process.{name}", row, rates)])
    for name in _subjects(row, "threads"):
        yield Block("threads", _threads(f"threads.{name}.", row))
    for server in _subjects(row, "store"):
        yield Block("store", list(_figures(f"store.{server}.", row, rates)))
    for server in _subjects(row, "waits"):
        yield Block("waits", list(_waits(f"waits.{server}.", row)))
    for server in _subjects(row, "queue"):
        yield Block("queued", list(_figures(f"queue.{server}.unread", row, rates, "unread")))
    for server in _subjects(row, "locks"):
        yield Block("locks", list(_figures(f"locks.{server}.", row, rates)))


def _subjects(row: Row, band: str) -> list[str]:
    """Return the devices, processes or servers of a band."""
    return list(dict.fromkeys(name.split(".")[1] for name in row if name.startswith(f"{band}.")))


def _host(row: Row, rates: Rates) -> Iterator[str]:
    used = {kind: rates.of(f"host.cpu_{kind}_s_total") or 0.0 for kind in _CPU}
    if total := sum(used.values()):
        for kind in _CPU[:-1]:
            if used[kind] or kind in ("user", "system"):
                yield f"{kind} {100 * used[kind] / total:.0f}%"
        yield f"idle {100 * used['idle'] / total:.0f}% of {total:.0f} CPUs"
    if (runnable := row.get("host.runnable")) is not None:
        yield f"run queue {runnable:.0f}"
    for name, words_of in (("cpu_some", "waiting for CPU"), ("io_some", "for I/O"), ("memory_some", "for memory")):
        if stalled := rates.of(f"pressure.{name}_s_total"):
            yield f"{words_of} {100 * min(1.0, stalled):.0f}%"
    if (available := row.get("host.memory_available_bytes")) is not None:
        yield f"available {words.short_bytes(available)}"
    yield from _per_s("switches", rates.of("host.context_switches_total"))


def _disk(band: str, rates: Rates) -> Iterator[str]:
    for name, bytes_name in (("reads", "read"), ("writes", "write")):
        count, size = rates.of(f"{band}.{name}_total"), rates.of(f"{band}.{bytes_name}_bytes_total")
        if count is not None and size is not None:
            yield f"{name} {words.whole(count)}/s {size / _MIB:.1f} MiB/s"
    yield from _per_s("flushes", rates.of(f"{band}.flushes_total"))
    if (busy := rates.of(f"{band}.busy_s_total")) is not None:
        yield f"busy {100 * min(1.0, busy):.0f}%"


def _network(rates: Rates) -> Iterator[str]:
    for name in ("received", "sent"):
        if (size := rates.of(f"network.{name}_bytes_total")) is not None:
            yield f"{name} {size / _MIB:.1f} MiB/s"
    yield from _per_s("retransmitted", rates.of("network.tcp_retransmits_total"))


def _process(band: str, row: Row, rates: Rates) -> Iterator[str]:
    user, system = (rates.of(f"{band}.cpu_{kind}_s_total") for kind in ("user", "system"))
    if user is not None and system is not None:
        yield f"CPU {user + system:.2f} (user {user:.2f}, system {system:.2f})"
    if (waited := rates.of(f"{band}.run_queue_s_total")) is not None:
        yield f"waiting for CPU {waited:.2f}"
    if (resident := row.get(f"{band}.resident_bytes")) is not None:
        yield f"memory {words.short_bytes(resident)}"
    if (threads := row.get(f"{band}.threads")) is not None:
        yield f"threads {threads:.0f}"
    for name in ("read", "written"):
        if (size := rates.of(f"{band}.{name}_bytes_total")) is not None:
            yield f"{name} {size / _MIB:.1f} MiB/s"
    yield from _per_s("faults", rates.of(f"{band}.major_faults_total"))


def _threads(band: str, row: Row) -> list[str]:
    """Return the busiest threads, each with its share of a CPU."""
    busy = {
        name.removeprefix(band).removesuffix(".busiest_cpu"): share
        for name, share in row.items()
        if name.startswith(band) and name.endswith(".busiest_cpu") and share >= 0.005
    }
    names = sorted(busy, key=lambda name: -busy[name])[:BUSY_THREADS]
    return [f"{name} {100 * busy[name]:.0f}%" for name in names]


def _figures(prefix: str, row: Row, rates: Rates, before: str = "") -> Iterator[str]:
    """Yield a server's figures that are not 0, in its order; what is counted as a rate."""
    for column, value in row.items():
        if not column.startswith(prefix):
            continue
        name = before + column.removeprefix(prefix)
        if name.endswith("_total"):
            yield from _rate(name.removesuffix("_total"), rates.of(column))
        elif value:
            yield _amount(name, value)


def _rate(name: str, per_s: float | None) -> Iterator[str]:
    if not per_s:
        return
    if name.endswith("_bytes"):
        yield f"{_plain(name.removesuffix('_bytes'))} {words.short_bytes(per_s)}/s"
    elif name.endswith("_s"):
        yield f"{_plain(name.removesuffix('_s'))} {per_s:.2f} s/s"
    else:
        yield f"{_plain(name)} {words.significant(per_s)}/s"


def _amount(name: str, value: float) -> str:
    if name.endswith("_bytes"):
        return f"{_plain(name.removesuffix('_bytes'))} {words.short_bytes(value)}"
    return f"{_plain(name)} {words.significant(value)}"


def _waits(band: str, row: Row) -> Iterator[str]:
    for name, value in row.items():
        if name.startswith(band) and value >= 0.005:
            yield f"{_plain(name.removeprefix(band))} {value:.2f}"


def _per_s(name: str, per_s: float | None) -> Iterator[str]:
    if per_s is not None:
        yield f"{name} {words.whole(per_s)}/s"


def _plain(name: str) -> str:
    return name.replace("_", " ").strip()
