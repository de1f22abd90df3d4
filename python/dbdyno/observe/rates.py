"""How fast cumulative columns grow from sample to sample."""

from collections.abc import Mapping

from dbdyno.results.samples import AT


class Rates:
    """The growth of each cumulative column between the last two samples that saw it."""

    def __init__(self, band: str = "") -> None:
        """Take what the columns' names begin with; without it, all are followed."""
        self._band = band
        self._last: dict[str, tuple[float, float]] = {}
        self._per_s: dict[str, float] = {}

    def see(self, row: Mapping[str, float]) -> None:
        """Take a sample."""
        at = row[AT]
        for name in row:
            if name.startswith(self._band) and name.endswith("_total"):
                if (before := self._last.get(name)) and at > before[0]:
                    self._per_s[name] = max(0.0, row[name] - before[1]) / (at - before[0])
                self._last[name] = (at, row[name])

    def of(self, name: str) -> float | None:
        """Return the growth of a column per second; None until two samples saw it."""
        return self._per_s.get(name)
