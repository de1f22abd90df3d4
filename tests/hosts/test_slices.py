"""Every client of a trial is in one slice."""

import pytest

from dbdyno.hosts.slices import Slice, slices


@pytest.mark.parametrize("clients", [1, 2, 3, 7, 200_000])
@pytest.mark.parametrize("hosts", [1, 2, 3, 10])
def test_slices_hold_every_client_once_and_differ_by_at_most_one(clients, hosts):
    cut = slices(clients, [f"c{number}" for number in range(hosts)])
    assert [part.first for part in cut] == [sum(part.count for part in cut[:number]) for number in range(len(cut))]
    assert sum(part.count for part in cut) == clients
    assert max(part.count for part in cut) - min(part.count for part in cut) <= 1


def test_a_host_without_clients_has_no_slice():
    assert slices(2, ["a", "b", "c"]) == [Slice("a", 0, 1), Slice("b", 1, 1)]
