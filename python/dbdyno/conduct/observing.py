"""What is observed of a trial, and what of it is written down and said."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from dbdyno.conduct.context import Context
from dbdyno.errors import UserError
from dbdyno.observe.observer import Observed, Observer
from dbdyno.observe.queues import listener, socket_listener
from dbdyno.results.observations import close_observations
from dbdyno.results.records import read_records
from dbdyno.results.usage import usage_of
from dbdyno.systems.base import System


def observer_of(context: Context, system: System, folder: Path) -> Observer | None:
    """Return what will observe a trial of `system`; None where the experiment wants none."""
    if not context.experiment.observe:
        return None
    addresses = system.addresses()
    pids, forking = system.server_pids(), system.forking()
    if not pids:
        # A server that dbdyno did not start is known by the port or socket it listens at, if it is on this host.
        pids = {name: pid for name, address in addresses.items() if (pid := listener(*address))}
        pids |= {name: pid for name, path in system.sockets().items() if (pid := socket_listener(path))}
        forking = frozenset(pids) if system.forks else forking
    servers = pids, forking, system.data_directories(), system.probes()
    observed = Observed(*servers, embedded=system.embedded, addresses=addresses)
    observer = Observer(observed, folder)
    _say(context, observer)
    return observer


def end_observing(context: Context, observer: Observer | None, folder: Path, auto_warmup: bool) -> dict[str, Any]:
    """Close what was observed, and return what `trial.json` says of it; raises OSError if that cannot be written.

    auto_warmup: figures begin where the steady state does.
    """
    if observer is None:
        return {}
    observer.stop()
    _say(context, observer)
    return {
        "observer_cpu_s": round(observer.cpu_s, 6),
        "not_seen": [{"band": band, "reason": reason} for band, reason in sorted(observer.not_seen.items())],
        # Read with every run; to read it from all the tables would take longer than `dbdyno show` may last.
        "usage": _usage(folder, auto_warmup),
    }


def _usage(folder: Path, auto_warmup: bool) -> list[dict[str, Any]]:
    observations = close_observations(folder)
    try:
        window = read_records(folder / "records.jsonl", auto_warmup).window_unix_s
    except UserError:
        # A load client that writes what cannot be understood has failed already, which is what is said of the trial.
        window = None
    return [asdict(used) for used in usage_of(observations, window)]


def _say(context: Context, observer: Observer) -> None:
    """Tell of each thing that cannot be seen once in a run."""
    for band_and_reason in sorted(observer.not_seen.items()):
        if band_and_reason not in context.said:
            context.said.add(band_and_reason)
            context.listener.not_seen(*band_and_reason)
