"""The band `pressure`: for how long some, or all, tasks of the host stalled for lack of something (PSI).

Source: the kernel's Documentation/accounting/psi.rst; `total` counts microseconds.
"""

from dbdyno.observe.procfs import NotSeen, read

_WANTED = (("cpu", "some"), ("io", "some"), ("io", "full"), ("memory", "some"))


class PressureSampler:
    """Reads `/proc/pressure/*`."""

    def __init__(self, not_seen: NotSeen, folder: str = "/proc/pressure") -> None:
        """Look whether the kernel keeps it; one booted without does not."""
        self._folder = folder
        self._wanted: tuple[tuple[str, str], ...] = _WANTED
        try:
            self.sample()
        except OSError:
            self._wanted = ()
            not_seen["pressure"] = "the kernel keeps no pressure-stall information: boot it with psi=1"

    def sample(self) -> dict[str, float]:
        """Return the seconds stalled, by what was wanting."""
        texts = {resource: read(f"{self._folder}/{resource}") for resource in dict(self._wanted)}
        return {
            f"pressure.{resource}_{share}_s_total": _total_us(texts[resource], share) * 1e-6
            for resource, share in self._wanted
        }


def _total_us(text: bytes, share: str) -> int:
    line = text[text.index(share.encode()) :]
    return int(line[line.index(b"total=") + 6 :].split(None, 1)[0])
