"""Random choices as a pure function of (seed, client, step): those of the native client (crates/model, choices.rs)."""

_MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


def mix(x: int) -> int:
    """Return the finalizer of splitmix64 of a 64-bit number (Steele, Lea, Flood, OOPSLA 2014, fig. 16)."""
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return x ^ (x >> 31)


class Choices:
    """The choices of one transaction: those of client `client` (of `clients`) in its `step`-th transaction."""

    __slots__ = ("_state", "client", "clients", "step")

    def __init__(self, seed: int, client: int, clients: int, step: int) -> None:
        self.client, self.clients, self.step = client, clients, step
        start = mix((seed + GOLDEN) & _MASK)
        start = mix(start ^ ((client * GOLDEN) & _MASK))
        self._state = mix(start ^ ((step * GOLDEN) & _MASK))

    def next_u64(self) -> int:
        """Return the next 64 random bits."""
        self._state = (self._state + GOLDEN) & _MASK
        return mix(self._state)

    def key(self, rows: int) -> int:
        """Return a key in 1 to `rows`, uniform (multiply-shift; Lemire, TOMACS 2019)."""
        return 1 + ((self.next_u64() * rows) >> 64)
