"""All cases, by what they put under strain."""

from . import connections, disks, engines, links, locks, processors, replicas, stalls, versions

CASES = (
    *processors.CASES,
    *disks.CASES,
    *locks.CASES,
    *links.CASES,
    *stalls.CASES,
    *engines.CASES,
    *replicas.CASES,
    *versions.CASES,
    *connections.CASES,
)
