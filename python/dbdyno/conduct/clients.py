"""The systems that are driven through each client library, and whether these are installed."""

from collections.abc import Iterator
from dataclasses import replace

from dbdyno.errors import UserError
from dbdyno.experiment.clients import NATIVE, library_of, name_of
from dbdyno.experiment.model import Experiment
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.systems import SYSTEMS, class_of

CLIENTS_MAX = 512
"""The Python load client has a thread for each client (docs/contract.md)."""


def driven(experiment: Experiment) -> list[SystemSpec]:
    """Return every system once for each client of the experiment that can drive it, labelled so.

    Each system takes the clients of a list that speak to it. Raises UserError if a system is left without one, or
    a client without a system, or if the experiment asks a library for what only the native client does.
    """
    libraries = [client for client in experiment.client if client != NATIVE]
    if libraries:
        _check_load(experiment, name_of(libraries[0]))
    specs = [spec for system in experiment.system for spec in _driven(experiment, system)]
    if unused := set(libraries) - {spec.client for spec in specs}:
        library = name_of(sorted(unused)[0])
        raise UserError(f"client: '{library}' does not speak to any of these systems; {_speaks_to(library)}")
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
    if spec.client == NATIVE or library_of(spec.client).installed:
        return None
    return library_of(spec.client).missing


def _driven(experiment: Experiment, spec: SystemSpec) -> Iterator[SystemSpec]:
    able = (NATIVE, *class_of(spec).libraries_for(spec.settings))
    fitting = [client for client in experiment.client if name_of(client) in able]
    if not fitting:
        library = name_of(experiment.client[0])
        raise UserError(
            f"client: '{library}' does not speak to '{spec.label}', {' and '.join(able)} can; {_speaks_to(library)}"
        )
    for client in fitting:
        via = "" if client == NATIVE else f" via {client}"
        yield replace(spec, client=client, label=spec.label + via)


def _speaks_to(library: str) -> str:
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
