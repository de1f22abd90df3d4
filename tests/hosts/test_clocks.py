"""Clocks of hosts, compared by round trips."""

import asyncio
import time

import pytest

from dbdyno.hosts.clocks import Reading, compare, drift_s, own_clocks, why_unsteady


class Far:
    """A host whose clock is `ahead_s` ahead; its round trips take longer and longer."""

    def __init__(self, ahead_s: float) -> None:
        self.ahead_s, self.trips = ahead_s, 0
        self._answers: list[dict[str, object]] = []

    async def send(self, message: dict[str, object]) -> None:
        assert message == {"say": "clock"}
        self.trips += 1
        await asyncio.sleep(0.001 * self.trips)
        self._answers = [{"alive": 0.0}, {"unix_ns": time.time_ns() + int(self.ahead_s * 1e9)}]

    async def receive(self) -> dict[str, object]:
        return self._answers.pop(0)


@pytest.mark.parametrize("ahead_s", [0.0, 3 * 3600.0, -0.5])
def test_the_offset_is_known_to_within_half_of_the_fastest_trip(ahead_s):
    far = Far(ahead_s)
    reading = asyncio.run(compare(far))
    assert far.trips == 20
    assert abs(reading.offset_s - ahead_s) <= reading.error_s
    # The first is the fastest: the second waits twice as long, which no haste of the machine can take back.
    assert reading.error_s >= 0.0005


def test_a_clock_that_drifts_is_steady_and_one_that_was_set_is_not():
    before = Reading(10.0, 0.0001, 0.0)
    assert why_unsteady(before, Reading(10.004, 0.0001, 60.0)) is None
    assert why_unsteady(before, Reading(11.0, 0.0001, 60.0)) == "its clock was set by +1.000 s during the trial"
    assert drift_s(before, Reading(9.0, 0.0001, 60.0)) == -1.0


def test_a_comparison_that_is_not_exact_says_less():
    assert why_unsteady(Reading(0.0, 0.5, 0.0), Reading(0.9, 0.5, 1.0)) is None


def test_both_clocks_of_a_host_stand_still_against_each_other():
    first = own_clocks()
    assert first.error_s >= 0 and abs(first.offset_s - (time.time() - time.monotonic())) < 60
    assert why_unsteady(first, own_clocks()) is None
