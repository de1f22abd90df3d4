"""How a trial's clients are divided among hosts: together they issue what one host would (docs/contract.md)."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Slice:
    """The clients `first` … `first + count − 1` of a trial."""

    host: str
    first: int
    count: int


def slices(clients: int, hosts: Sequence[str]) -> list[Slice]:
    """Return a slice for each host, as equal as they can be; hosts beyond the number of clients have none."""
    cut, first = [], 0
    for number, host in enumerate(hosts):
        count = clients // len(hosts) + (number < clients % len(hosts))
        if count:
            cut.append(Slice(host, first, count))
        first += count
    return cut
