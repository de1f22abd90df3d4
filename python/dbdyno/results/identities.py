"""What must add up in every trial (DESIGN, invariants), and what a reader must know where it does not."""

from __future__ import annotations

from collections.abc import Iterator

from dbdyno.results.model import JsonObject, Recorded

LITTLE_TOLERANCE = 0.02
BUSY_LOAD_THREADS = 0.9
_COUNTED = ("completed", "failed")


def warnings_of(recorded: Recorded, about: JsonObject, embedded: bool) -> tuple[str, ...]:
    """Return a sentence for each thing that does not add up or makes the figures less than they seem.

    Args:
        about: `trial.json`.
        embedded: the store runs in the load client's own threads.
    """
    return (
        *_sums(recorded),
        *_shape(recorded, about),
        *_little(recorded, about),
        *_client_limited(recorded, about, embedded),
    )


def _sums(recorded: Recorded) -> Iterator[str]:
    total = recorded.total
    if total is None:
        return
    transactions = total["transactions"]
    ended = sum(transactions[key] for key in ("completed", "failed", "unfinished"))
    if transactions["scheduled"] != ended:
        yield f"{transactions['scheduled']} transactions were begun but {ended} accounted for: a bug in the load client"
    sums = recorded.sums
    pairs = [(f"transactions {key}", sums.get(key, 0), transactions[key]) for key in _COUNTED]
    pairs += [(key, sums.get(key, 0), total[key]) for key in ("reads_verified", "mismatches")]
    for name, operation in total["operations"].items():
        seen = sums["operations"].get(name, (0, 0))
        pairs += [(f"{name} {key}", seen[place], operation[key]) for place, key in enumerate(_COUNTED)]
    for what, summed, stated in pairs:
        if summed != stated:
            yield f"the seconds add up to {summed} {what}, the total says {stated}: a bug in the load client"


def _shape(recorded: Recorded, about: JsonObject) -> Iterator[str]:
    hello, planned_s = recorded.hello or {}, about.get("seconds")
    if hello.get("profile") == "debug":
        yield "the load client is a debug build: its figures say nothing about the store"
    if wrong := recorded.sums.get("mismatches"):
        yield f"{wrong} read{'s' if wrong > 1 else ''} returned something else than was written"
    if planned_s and recorded.intervals and recorded.seconds < planned_s - 0.5:
        yield f"measured for {recorded.seconds:.1f} of {planned_s} s"


def _little(recorded: Recorded, about: JsonObject) -> Iterator[str]:
    """Little's law: in a closed loop without errors, clients = transactions in flight, on average.

    Taken from the load client's own sum over all transactions, those that straddle the run's end with their part in
    it: throughput × mean service time of the measured seconds is off by whatever straddles them.
    """
    in_flight, clients = (recorded.total or {}).get("in_flight_mean"), about.get("clients")
    errors = any(interval.errors or interval.failed for interval in recorded.intervals)
    if errors or not (in_flight and clients):
        return
    if abs(in_flight / clients - 1) > LITTLE_TOLERANCE:
        yield f"{in_flight:.3g} transactions were in flight on average, not {clients}: clients were busy elsewhere"


def _client_limited(recorded: Recorded, about: JsonObject, embedded: bool) -> Iterator[str]:
    """METHODS §5, the one sign of a client-limited trial that the records alone can give."""
    threads = (recorded.hello or {}).get("threads")
    if embedded or not threads or recorded.seconds <= 0:
        return
    able = min(threads, len(about.get("client_cpus") or [])) or threads
    busy = sum(interval.client_cpu_s for interval in recorded.measured) / recorded.seconds / able
    if busy >= BUSY_LOAD_THREADS:
        yield f"limited by the client: its load threads were {busy:.0%} busy, the store may be able to do more"
