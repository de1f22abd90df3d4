"""The time budget (docs/statistics.md, section 5.1): where, second by second, the operations in flight were.

By Little's law (1961) the time that operations spend somewhere, per second, is how many of them are there on average.
In a closed loop N are in flight all the time; each of them is in the client, on its way, or in the server. Operations
that no observation accounts for are `unexplained`. They are never spread over the other bands.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dbdyno.results.facts import client_host
from dbdyno.results.operations import issued
from dbdyno.verdict.client import load_threads
from dbdyno.verdict.evidence import A_THREAD_EACH, CLIENT_TASKS, LONG_WAY_S
from dbdyno.verdict.limits import BANDS
from dbdyno.verdict.seconds import Seconds

if TYPE_CHECKING:
    from dbdyno.results.json_types import HostStated
    from dbdyno.results.model import Trial

STATES = {band.state: band.name for band in BANDS if band.state}
"""States of a server's threads (`waits.<server>.<state>`), and the band of each. In `other` nobody knows what for."""
COUNTED = {band.name: band.counters for band in BANDS if band.counters}
"""The kernel's counters of a process (`process.<server>.<counter>`), for a store that does not show its waits."""
BAND_NAMES = tuple(band.name for band in BANDS)

NEVER_IDLE = 0.9
"""Load threads that work or wait for a processor for this share of the time keep every answer waiting that comes."""
AT_WORK = 0.5
"""Threads of a server that work or wait for a processor: with fewer it has time for what it has read."""
MOSTLY_IDLE = 0.5
"""Load threads idle for more than this take an answer when it comes, so what is outside of the server is on its way."""
_BUSY_IN = ("server_cpu", "server_cpu_wait", "disk", "commit")
"""Bands of a server's threads that work on what they have read."""
ALL_BUT_STILL = 0.1
"""A share of the median second's throughput. If less is done though client and server wait for each other, either of
them may as well be stopped as the network between them: nobody can tell."""

_NEXT_TO_NOTHING_S = 1e-9


@dataclass(frozen=True, slots=True)
class TimeBudget:
    """The operations in flight of one trial, by band.

    Attributes:
        in_flight: how many there were, on average over the measured seconds.
        bands: of BAND_NAMES, how many of them, on average over the measured seconds; they add up to `in_flight`.
        per_second: the same of each second, warm-up included; each of shape (seconds,).
        measured: which seconds are measured; shape (seconds,).
        not_seen: of BAND_NAMES, those that at least one server did not show: what is in them is a lower bound, and a 0
            is none that was observed.
    """

    in_flight: float
    bands: Mapping[str, float]
    per_second: Mapping[str, np.ndarray]
    measured: np.ndarray
    not_seen: tuple[str, ...]


def time_budget(trial: Trial) -> TimeBudget | None:
    """Return where a trial's operations were, or `None` if nothing was measured."""
    recorded = trial.recorded
    if recorded.run_began_unix_s is None or recorded.seconds <= 0:
        return None
    lengths_s = _lengths_s(trial)
    edges = recorded.run_began_unix_s + np.concatenate(([0.0], np.cumsum(lengths_s)))
    seconds = Seconds(trial.observations, edges)
    in_flight = _in_flight(trial, lengths_s)
    bands = _embedded(trial, seconds, lengths_s) if trial.embedded else _served(trial, seconds, in_flight, lengths_s)
    bands = _fitted(bands, in_flight)
    per_second = {name: bands.get(name, np.zeros(len(seconds))) for name in BAND_NAMES[:-1]}
    per_second["unexplained"] = in_flight - sum(per_second.values())
    measured = np.array([interval.measured for interval in recorded.intervals])
    counted_s = np.where(measured, lengths_s, 0.0)
    means = {name: float(values @ counted_s) / recorded.seconds for name, values in per_second.items()}
    mean = float(in_flight @ counted_s) / recorded.seconds
    return TimeBudget(mean, means, per_second, measured, _not_seen(trial, seconds))


def _lengths_s(trial: Trial) -> np.ndarray:
    """How long each second was; one that was cut as it began is not quite nothing, so that it can be divided by."""
    return np.array([max(interval.seconds, _NEXT_TO_NOTHING_S) for interval in trial.recorded.intervals])


def _in_flight(trial: Trial, lengths_s: np.ndarray) -> np.ndarray:
    """N in a closed loop; in an open one what Little's law gives, at most one transaction a client.

    Service time is recorded where a transaction ends. Time beyond that second was spent in those before it: a stall is
    in flight while it lasts, and not when it is over.
    """
    clients = float(trial.facts.transactions_in_flight)
    if trial.recorded.offered is None and not trial.facts.is_pausing:
        return np.full(len(lengths_s), clients)
    service_s = np.array([interval.service_s for interval in trial.recorded.intervals])
    held_s, carried_s = np.zeros(len(lengths_s)), 0.0
    for second in reversed(range(len(lengths_s))):
        spent_s = service_s[second] + carried_s
        held_s[second] = min(spent_s, clients * lengths_s[second])
        carried_s = spent_s - held_s[second]
    return np.asarray(held_s / lengths_s)


def _embedded(trial: Trial, seconds: Seconds, lengths_s: np.ndarray) -> dict[str, np.ndarray]:
    """An embedded store works in the load client's own threads, so what these use is the store's.

    A thread that waits for another waits for that one's work. Stores let one write at a time, or one flush for all:
    while one flushes, the others wait for that flush, and else for each other.
    """
    counted = _of_process(seconds, "client") | {"server_cpu": _client_cpu(trial, lengths_s)}
    if waits := _client_waits(trial, seconds):
        known = ~np.isnan(waits["lock"])
        flushing = np.minimum(1.0, waits["commit"])
        waits["commit"] += flushing * waits["lock"]
        waits["lock"] *= 1.0 - flushing
        counted |= {band: np.where(known, values, counted.get(band, np.nan)) for band, values in waits.items()}
    return {band: np.nan_to_num(values) for band, values in counted.items()}


def _client_waits(trial: Trial, seconds: Seconds) -> dict[str, np.ndarray]:
    """The waits of the load client's threads, by band; empty if they are not known to be the store's.

    In an open loop, a thread without a due transaction waits, too.
    """
    waits = {band: seconds.mean(f"waits.client.{band}") for band in ("disk", "lock", "commit")}
    is_waiting = trial.recorded.offered is not None or trial.facts.is_pausing
    unknown = is_waiting or np.isnan(waits["lock"]).all()
    return {} if unknown else waits


def _client_cpu(trial: Trial, lengths_s: np.ndarray) -> np.ndarray:
    return np.asarray(np.array([interval.client_cpu_s for interval in trial.recorded.intervals]) / lengths_s)


def _served(trial: Trial, seconds: Seconds, in_flight: np.ndarray, lengths_s: np.ndarray) -> dict[str, np.ndarray]:
    """A store of one or more servers: what is observed in them, what is in the client, and what is between."""
    inside, other, known = _inside(seconds, trial.server_names, in_flight)
    # Injected waits are known, not observed: what a server does beyond the rest is not for our operations.
    injected = np.minimum(in_flight, injected_waits(trial))
    inside = _fitted(inside, in_flight - injected)
    outside = np.maximum(0.0, in_flight - injected - sum(inside.values(), other))
    client_cpu = np.minimum(outside, _client_cpu(trial, lengths_s))
    waiting = np.nan_to_num(seconds.rate("process.client.run_queue_s_total"))
    busy = (_client_cpu(trial, lengths_s) + waiting) / (load_threads(trial) or np.inf)
    queues = Queues.of(trial, seconds, in_flight)
    # A woken thread that waits for a processor has not read its request yet: it is not counted twice.
    counted = np.where(known, inside["server_cpu_wait"], 0.0)
    wanted = [
        ("client_cpu_wait", np.where(queues.seen, queues.answers, waiting)),
        ("network", queues.in_transit + _round_trips(trial, seconds, lengths_s)),
        ("server_queue", np.maximum(0.0, queues.requests - counted) + _pending(seconds, trial.server_names)),
    ]
    bands, left = {}, outside - client_cpu
    for name, amount in wanted:
        bands[name] = np.minimum(left, amount)
        left = left - bands[name]
    unseen_busy = known & ~queues.seen & (busy >= NEVER_IDLE) & ~stalled_seconds(trial)
    between = known & queues.at_server & (busy < MOSTLY_IDLE) & ~stalled_seconds(trial)
    # Other client hosts measure their round trips, so nothing is inferred of their network.
    between &= not trial.facts.hosts
    # Behind both ends of each connection another program may still have its data: an empty request shows how long.
    on_its_way = np.where(queues.whole, np.minimum(left, _empty_trips(trial, seconds, lengths_s)), left)
    read = np.where(queues.whole & ~known, left, 0.0)
    bands["server_queue"] += _pending_for(("server_cpu", "server_cpu_wait"), inside, read)
    in_threads = {band: inside[band] + _pending_for((band,), inside, read) for band in ("disk", "commit")}
    return (
        inside
        | in_threads
        | {
            "client_cpu": client_cpu,
            "client_cpu_wait": bands["client_cpu_wait"] + np.where(unseen_busy, left, 0.0),
            "network": injected + bands["network"] + np.where(between, on_its_way, 0.0),
            "server_queue": bands["server_queue"],
        }
    )


def _pending_for(bands: Sequence[str], inside: Mapping[str, np.ndarray], read: np.ndarray) -> np.ndarray:
    """Return how many of the operations that a server has read wait for what its threads do in these bands.

    Both sockets of such an operation are empty and nothing is on its way. It waits for the server's threads only if
    these are busy: on a processor, in a read of a file or in a flush, each for its share of that time.
    """
    busy = sum(inside[band] for band in _BUSY_IN)
    share = sum(inside[band] for band in bands) / np.where(busy > 0, busy, 1.0)
    return np.asarray(np.where(busy >= AT_WORK, read * share, 0.0))


@dataclass(frozen=True, slots=True)
class Queues:
    """How many operations the sockets of a trial's connections hold in each second; each of shape (seconds,).

    Attributes:
        answers: arrived at the load client, and not read by it.
        requests: arrived at a server, and not read by it.
        in_transit: sent by one end, and not received by the other.
        seen: whether the client's sockets were observed. at_server: whether the servers' were, too.
        whole: whether both ends of nearly all connections were observed, so that nothing is between them.
    """

    answers: np.ndarray
    requests: np.ndarray
    in_transit: np.ndarray
    seen: np.ndarray
    at_server: np.ndarray
    whole: np.ndarray

    @classmethod
    def of(cls, trial: Trial, seconds: Seconds, in_flight: np.ndarray) -> Queues:
        """Return them; a pipeline's socket counts for each of its transactions."""
        names = ("unread_answers", "unread_requests", "requests_in_transit", "answers_in_transit", "whole_connections")
        pipeline = trial.facts.pipeline or 1
        sums = dict.fromkeys(names, np.zeros(len(seconds)))
        for server in trial.server_names:
            for name in names:
                sums[name] = sums[name] + pipeline * seconds.mean(f"queue.{server}.{name}")
        known = {name: ~np.isnan(values) & bool(trial.server_names) for name, values in sums.items()}
        values = {name: np.nan_to_num(of_all) for name, of_all in sums.items()}
        # Clients of a pool of servers have a connection to each.
        whole = values["whole_connections"] >= A_THREAD_EACH * in_flight
        transit = values["requests_in_transit"] + values["answers_in_transit"]
        seen, at_server = known["unread_answers"], known["unread_requests"]
        return cls(values["unread_answers"], values["unread_requests"], transit, seen, at_server, whole & at_server)


def _pending(seconds: Seconds, servers: tuple[str, ...]) -> np.ndarray:
    """Return how many tasks of clients the servers themselves say are queued for their threads; shape (seconds,)."""
    pending = np.zeros(len(seconds))
    for server in servers:
        for task in CLIENT_TASKS:
            pending += np.nan_to_num(seconds.mean(f"store.{server}.{task}_tasks_pending"))
    return pending


def _round_trips(trial: Trial, seconds: Seconds, lengths_s: np.ndarray) -> np.ndarray:
    """Return how many operations are on their way to and from servers on other hosts, by Little's law: their rate times
    the shortest round trip that TCP measured; shape (seconds,)."""
    total = np.zeros(len(seconds))
    if trial.facts.hosts:
        return total + _operations_per_s(trial, lengths_s) * host_round_trip_s(trial.facts.hosts)
    for server in trial.server_names:
        far = np.isnan(seconds.mean(f"queue.{server}.unread_requests"))
        round_trip_s = np.nan_to_num(seconds.mean(f"queue.{server}.min_rtt_s"))
        total += np.where(far, _operations_per_s(trial, lengths_s) * round_trip_s, 0.0) / len(trial.server_names)
    return total


def _empty_trips(trial: Trial, seconds: Seconds, lengths_s: np.ndarray) -> np.ndarray:
    """Return how many operations are on their way, by Little's law: their rate times how long an empty request of
    dbdyno's own took before the load. Less than LONG_WAY_S counts as none; shape (seconds,)."""
    total = np.zeros(len(seconds))
    for server in trial.server_names:
        trip_s = np.nan_to_num(seconds.mean(f"queue.{server}.empty_round_trip_s"))
        total += _operations_per_s(trial, lengths_s) * np.where(trip_s >= LONG_WAY_S, trip_s, 0.0)
    return total / max(1, len(trial.server_names))


def host_round_trip_s(hosts: Sequence[HostStated]) -> float:
    """Return the mean round trip of client hosts under load, weighted by their clients; 0 if none was measured."""
    clients = trips_s = 0.0
    for host in filter(None, map(client_host, hosts)):
        network = host.get("network")
        if network and (took_us := network.get("round_trip_us")) is not None:
            clients += host["clients"]["count"]
            trips_s += host["clients"]["count"] * took_us * 1e-6
    return trips_s / clients if clients else 0.0


def _operations_per_s(trial: Trial, lengths_s: np.ndarray) -> np.ndarray:
    """Return the rate of a trial's operations in each second, as many as its transactions have on average."""
    completed = np.array([interval.completed for interval in trial.recorded.intervals])
    operations = sum(map(sum, issued(trial.recorded)))
    each = operations / max(1, trial.recorded.sums.completed + trial.recorded.sums.failed)
    return np.asarray(completed * each / lengths_s)


def injected_waits(trial: Trial) -> np.ndarray:
    """Return how many operations waited for the requested network delay (`network_delay_us`), in each second.

    It is put before every request, so by Little's law that is the rate of the operations times the delay; transactions
    of one pipeline wait it together. shape (seconds,).
    """
    delay_s = (trial.facts.network_delay_us or 0) * 1e-6
    if not delay_s:
        return np.zeros(len(trial.recorded.intervals))
    return np.asarray(_operations_per_s(trial, _lengths_s(trial)) * delay_s)


def stalled_seconds(trial: Trial) -> np.ndarray:
    """Return which seconds, warm-up included, stood all but still; shape (seconds,)."""
    rates = np.array([interval.completed for interval in trial.recorded.intervals]) / _lengths_s(trial)
    measured = np.array([interval.measured for interval in trial.recorded.intervals])
    return np.asarray(rates < ALL_BUT_STILL * np.median(rates[measured]))


def _inside(
    seconds: Seconds, servers: tuple[str, ...], in_flight: np.ndarray
) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """Return the operations in the servers by band, those in them for unknown reasons, and the seconds in which all
    servers reported where each operation was. Only in these seconds are the rest certainly outside the servers."""
    bands = {band: np.zeros(len(seconds)) for band in STATES.values()}
    other, all_known = np.zeros(len(seconds)), np.full(len(seconds), bool(servers))
    for server in servers:
        states = {state: seconds.mean(f"waits.{server}.{state}") for state in (*STATES, "other", "client")}
        threads = np.stack(list(states.values()))
        known = ~np.isnan(threads).all(axis=0)
        all_known &= known & (np.nan_to_num(threads).sum(axis=0) >= A_THREAD_EACH * in_flight)
        other += np.nan_to_num(states["other"])
        counted = _of_process(seconds, server)
        for state, band in STATES.items():
            values = np.where(known, states[state], counted.get(band, np.nan))
            bands[band] = bands[band] + np.nan_to_num(values)
        bands["commit"] = bands["commit"] + _waiting_for_log(seconds, server)
    return bands, other, all_known


def _waiting_for_log(seconds: Seconds, server: str) -> np.ndarray:
    """Return how many tasks of clients wait for a server's log: those that write, while a thread of its own flushes
    it; shape (seconds,)."""
    flushing = seconds.mean(f"log.{server}.flushing")
    return np.asarray(np.nan_to_num(flushing * seconds.mean(f"store.{server}.write_tasks_active")))


def _not_seen(trial: Trial, seconds: Seconds) -> tuple[str, ...]:
    """The bands that at least one server did not show in any second, or of which it refused to tell all."""
    counted = _of_process(seconds, "client")
    if trial.embedded:
        seen = [{"server_cpu", *_client_waits(trial, seconds)} | _told(counted)]
    else:
        refused = {unseen.band for unseen in trial.facts.unseen}
        seen = [_shown(seconds, server, refused) for server in trial.server_names] or [set()]
    client = {"client_cpu", "network", "unexplained"}
    if trial.embedded or Queues.of(trial, seconds, np.zeros(len(seconds))).at_server.any():
        client.add("server_queue")
    if trial.embedded or "server_cpu_wait" in _told(counted):
        client.add("client_cpu_wait")
    return tuple(band for band in BAND_NAMES if band not in client.union(set.intersection(*seen)))


def _shown(seconds: Seconds, server: str, refused: Collection[str | None]) -> set[str]:
    """The bands that a server shows: by what its threads wait for, else by what the kernel counts of it."""
    states = np.stack([seconds.mean(f"waits.{server}.{state}") for state in (*STATES, "other", "client")])
    if np.isnan(states).any(axis=0).all():
        return _told(_of_process(seconds, server))
    return {band for state, band in STATES.items() if f"waits.{server}.{state}" not in refused}


def _told(bands: Mapping[str, np.ndarray]) -> set[str]:
    return {band for band, values in bands.items() if not np.isnan(values).all()}


def _of_process(seconds: Seconds, name: str) -> dict[str, np.ndarray]:
    return {
        band: sum((seconds.rate(f"process.{name}.{counter}") for counter in counters), np.zeros(len(seconds)))
        for band, counters in COUNTED.items()
    }


def _fitted(bands: dict[str, np.ndarray], in_flight: np.ndarray) -> dict[str, np.ndarray]:
    """Bands that add up to at most what is in flight: a server's own threads work too, and sampling has its error."""
    total = sum(bands.values(), np.zeros(len(in_flight)))
    share = np.minimum(1.0, in_flight / np.where(total > 0, total, 1.0))
    return {name: values * share for name, values in bands.items()}
