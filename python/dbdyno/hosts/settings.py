"""How dask is set up: it says who is there, and nothing that it is given is ever run twice or somewhere else.

A trial is no task of dask's. It goes over its own connection (`dbdyno.hosts.channel`), so the settings that could
repeat or move a task are the second fence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dbdyno.errors import UserError
from dbdyno.hosts.certificates import Certificates

if TYPE_CHECKING:
    from distributed.security import Security

WORKER_TTL_S = 10
"""A worker that said nothing for so long is gone. Nothing else distinguishes a frozen one from a slow one."""

SETTINGS: dict[str, object] = {
    "distributed.scheduler.work-stealing": False,
    "distributed.scheduler.allowed-failures": 0,
    "distributed.scheduler.worker-ttl": f"{WORKER_TTL_S}s",
    "distributed.scheduler.active-memory-manager.start": False,
    # Below 11 s dask fails its own assertion.
    "distributed.comm.timeouts.tcp": "15s",
    "distributed.comm.timeouts.connect": "15s",
    "distributed.comm.require-encryption": True,
    "distributed.worker.profile.enabled": False,
    # Memory is the load client's: dask must neither pause nor end a worker over it.
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
    "distributed.admin.system-monitor.interval": "10s",
    # By default dask wakes up 50 times a second to see how late it is.
    "distributed.admin.tick.interval": "1s",
}
"""Dask's configuration, on the conductor and on every worker."""


def need_dask() -> None:
    """Raise UserError if dask.distributed is not installed."""
    try:
        import distributed  # noqa: F401, PLC0415
    except ImportError:
        raise UserError("several hosts need dask.distributed: pip install 'dbdyno[hosts]'") from None


def security_of(certificates: Certificates) -> Security:
    """Return dask's view of a host's certificates: nothing without them is read, in either direction."""
    from distributed.security import Security  # noqa: PLC0415

    own = {
        f"tls_{role}_{part}": str(file)
        for role in ("scheduler", "worker", "client")
        for part, file in (("cert", certificates.certificate), ("key", certificates.key))
    }
    return Security(  # type: ignore[no-untyped-call]
        tls_ca_file=str(certificates.authority), require_encryption=True, tls_min_version=0x0304, **own
    )
