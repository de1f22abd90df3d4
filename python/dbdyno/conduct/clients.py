"""The systems that each client drives: which fit together, and whether a client library is installed."""

from collections.abc import Iterator
from dataclasses import replace

from dbdyno.errors import UserError
from dbdyno.experiment.clients import LIBRARIES, NATIVE, is_own, libraries_among, library_of, name_of, words_of
from dbdyno.experiment.model import Experiment
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.systems import SYSTEMS, class_of

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
    if name_of(spec.client) not in LIBRARIES or library_of(spec.client).installed:
        return None
    return library_of(spec.client).missing


def _driven(experiment: Experiment, spec: SystemSpec) -> Iterator[SystemSpec]:
    system = class_of(spec)
    able = (NATIVE, *system.libraries_for(spec.settings))
    fitting = [
        client for client in experiment.client if (not system.embedded if is_own(client) else name_of(client) in able)
    ]
    if not fitting:
        client, others = experiment.client[0], " and ".join(able)
        raise UserError(
            f"client: '{_bare(client)}' does not speak to '{spec.label}', {others} can; {_speaks_to(client)}"
        )
    for client in fitting:
        via = "" if client == NATIVE else f" via {words_of(client, experiment.client)}"
        yield replace(spec, client=client, label=spec.label + via)


def _bare(client: str) -> str:
    return client if is_own(client) else name_of(client)


def _speaks_to(client: str) -> str:
    if is_own(client):
        return "a program of your own drives servers, and no store inside the load client"
    library = name_of(client)
    able = [system.name for system in SYSTEMS.values() if library in system.libraries]
    return f"{library} speaks to {', '.join(able)}"


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
