"""The systems that each client drives: which fit together, and whether a client library is installed."""

from collections.abc import Iterator
from dataclasses import replace

from dbdyno.errors import UserError
from dbdyno.experiment.clients import (
    NATIVE,
    cache_library_of,
    is_own,
    libraries_among,
    library_of,
    name_of,
    words_of,
)
from dbdyno.experiment.model import Experiment
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.systems import SYSTEMS, class_of
from dbdyno.systems.arrangements.cache_aside import CacheAside

CLIENTS_MAX = 512
"""The Python load client has a thread for each client (docs/contract.md)."""


def driven(experiment: Experiment) -> list[SystemSpec]:
    """Return every system once for each client of the experiment that can drive it, labelled so.

    Each system takes the clients of a list that speak to it, every server a program of the user's own. Raises UserError
    if a system is left without one, or a client without a system, or if the experiment asks a library for what only
    the native client does. A program says itself what it does not do.
    """
    if libraries := libraries_among(experiment.client):
        _check_load(experiment, name_of(libraries[0]))
    specs = [spec for system in experiment.system for spec in _driven(experiment, system)]
    if unused := set(experiment.client) - {NATIVE} - {spec.client for spec in specs}:
        client = sorted(unused)[0]
        raise UserError(f"client: '{_bare(client)}' does not speak to any of these systems; {_speaks_to(client)}")
    return specs


def refuse_for_program(experiment: Experiment, program: str) -> None:
    """Raise UserError if a workload that a program drives is to have another client, or what that client lacks."""
    if libraries := [client for client in experiment.client if client != NATIVE]:
        raise UserError(f"client: the workload '{program}' is driven by {program}; leave '{libraries[0]}' out")
    if experiment.load_threads:
        raise UserError(f"load_threads: {program} has a thread for each client; leave load_threads out")
    _check_load(experiment, program)


def missing_library(spec: SystemSpec) -> str | None:
    """Return what the client of `spec` needs that is not installed, and how to get it; None if it is there."""
    if not libraries_among([spec.client]):
        return None
    libraries = (cache_library_of(spec.client), library_of(spec.client))
    return next((library.missing for library in libraries if library and not library.installed), None)


def _driven(experiment: Experiment, spec: SystemSpec) -> Iterator[SystemSpec]:
    able = (NATIVE, *_libraries_for(spec))
    drives_own = not class_of(spec).embedded
    fitting = [client for client in experiment.client if (drives_own if is_own(client) else name_of(client) in able)]
    if not fitting:
        client, others = experiment.client[0], " and ".join(able)
        raise UserError(
            f"client: '{_bare(client)}' does not speak to '{spec.label}', {others} can; {_speaks_to(client)}"
        )
    for client in fitting:
        via = "" if client == NATIVE else f" via {words_of(client, experiment.client)}"
        yield replace(spec, client=client, label=spec.label + via)


def _libraries_for(spec: SystemSpec) -> tuple[str, ...]:
    """Return the libraries that can drive a system; for a cache in front of a store, pairs of them."""
    if spec.name != CacheAside.name or len(spec.parts) != 2:
        return class_of(spec).libraries_for(spec.settings)
    cache, store = (class_of(part).libraries_for(part.settings) for part in spec.parts)
    return tuple(f"{in_front}+{behind}" for in_front in cache for behind in store)


def _bare(client: str) -> str:
    return client if is_own(client) else name_of(client)


def _speaks_to(client: str) -> str:
    if is_own(client):
        return "a program of your own drives servers, and no store inside the load client"
    return "; ".join(f"{library} speaks to {', '.join(_spoken_to(library))}" for library in name_of(client).split("+"))


def _spoken_to(library: str) -> list[str]:
    return [system.name for system in SYSTEMS.values() if library in system.libraries]


def _check_load(experiment: Experiment, library: str) -> None:
    """Raise UserError if the experiment asks of a library for what only the native load client does."""
    if experiment.rate or experiment.find_rate:
        raise UserError(f"client: '{library}' is driven in a closed loop; leave rate and find_rate out, or the client")
    if max(experiment.pipeline) > 1:
        raise UserError(f"client: '{library}' is driven one request at a time; leave pipeline out, or the client")
    if max(experiment.network_delay_us):
        raise UserError(f"client: '{library}' cannot wait as on a network; leave network_delay_us out, or the client")
    if max(experiment.clients) > CLIENTS_MAX:
        raise UserError(f"clients: '{library}' takes a thread for each client, at most {CLIENTS_MAX}")
