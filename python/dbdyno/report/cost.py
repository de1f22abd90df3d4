"""The cost of a transaction: CPU time, context switches, bytes through the disk (docs/statistics.md, section 8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dbdyno.results.model import Trial
from dbdyno.results.read import processes_of_store, usage_of_servers

_PER_TRANSACTION = {
    "context_switches": ("voluntary_switches_total", "involuntary_switches_total"),
    "bytes_read": ("read_bytes_total",),
    "bytes_written": ("written_bytes_total",),
}
_ON_DISK = "data_bytes"


def cost(trial: Trial) -> dict[str, float | None]:
    """Return a transaction's cost, in the measured time; `None` where it was not seen.

    `client_cpu_us`: of the load threads. `server_cpu_us`: of the store's processes; `None` for an embedded store, whose
    work is the client's, and for an attached one. `context_switches`, `bytes_read` and `bytes_written`: of the store's
    processes, of an embedded one the client's; `None` where one of its servers was not seen. `bytes_on_disk`: of all of
    its data, when the trial ended.
    """
    recorded = trial.recorded
    rate = recorded.throughput_per_s
    names = processes_of_store(trial)
    cores = [used.cores for used in usage_of_servers(trial) if used.process in names]
    server_cores = sum(used for used in cores if used is not None) if cores and None not in cores else None
    client_cpu_s = sum(interval.client_cpu_s for interval in recorded.measured)
    return {
        "client_cpu_us": client_cpu_s * 1e6 / recorded.completed if recorded.completed else None,
        "server_cpu_us": server_cores * 1e6 / rate if server_cores is not None and rate else None,
        **{
            name: summed / rate if rate and (summed := _summed(trial.observed, names, parts)) is not None else None
            for name, parts in _PER_TRANSACTION.items()
        },
        "bytes_on_disk": trial.about.get(_ON_DISK),
    }


def _summed(observed: Mapping[str, float], names: Sequence[str], parts: tuple[str, ...]) -> float | None:
    known = [observed.get(f"process.{name}.{part}") for name in names for part in parts]
    return None if not known or None in known else sum(value for value in known if value is not None)
