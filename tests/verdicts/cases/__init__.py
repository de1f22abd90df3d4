"""All cases, by what they put under strain."""

from . import disks, engines, links, locks, processors, stalls

CASES = (
    *processors.CASES,
    *disks.CASES,
    *locks.CASES,
    *links.CASES,
    *stalls.CASES,
    *engines.CASES,
)
