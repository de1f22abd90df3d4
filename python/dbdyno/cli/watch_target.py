"""The server that `dbdyno watch` looks at: a process, all a system's processes, or whatever answers at a URL."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from dbdyno.conduct.server_processes import refuse_other_processes, server_processes
from dbdyno.errors import RunFailed, UserError, did_you_mean
from dbdyno.experiment.system_spec import SystemSpec, parse_system, with_labels
from dbdyno.observe.observer import Observed
from dbdyno.observe.servers import ServerOfHost, running, server_of
from dbdyno.systems import SYSTEMS, build
from dbdyno.systems.base import Launch
from dbdyno.systems.running.guard import Guard

_ANY_DATABASE = {"mysql": "information_schema", "postgresql": "postgres"}
"""Databases that every server has, for a URL without one: watching needs no tables."""
_MOST_NUMBER = 10


@dataclass(frozen=True)
class Target:
    """A server to watch. title: its name for a person. pid: the process without which there is nothing to see."""

    title: str
    observed: Observed
    pid: int | None = None


@contextmanager
def opened(text: str) -> Iterator[Target]:
    """Find what a person names, and connect to it if that is a URL; closes it afterwards.

    Raises UserError if there is no such process, system or server.
    """
    if "://" in text:
        with ExitStack() as stack:
            yield _attached(text, stack)
    elif text.isdecimal():
        yield _process(_by_number(text))
    else:
        yield _process(_by_name(text))


def _by_number(text: str) -> ServerOfHost:
    server = server_of(int(text)) if len(text) <= _MOST_NUMBER else None
    if server is None:
        raise UserError(f"there is no process {text} on this host")
    return server


def _by_name(text: str) -> ServerOfHost:
    """Return the only process of a system that runs here."""
    layouts = {name: system.layout for name, system in SYSTEMS.items() if system.layout}
    if text not in layouts:
        raise UserError(
            f"'{text}' is not a system that can be watched by its name{did_you_mean(text, layouts)} Give a process ID, "
            f"a URL, or one of {', '.join(layouts)}"
        )
    layout = layouts[text]
    programs = {layout.server, *(Path(path).name for path in layout.programs[layout.server])}
    servers = running(programs)
    if not servers:
        raise UserError(f"no {text} runs on this host; give the URL of one, e.g. scheme://user@host/database")
    if len(servers) > 1:
        numbers = ", ".join(str(server.pid) for server in servers)
        raise UserError(f"{len(servers)} processes of {text} run on this host; give the process ID of one: {numbers}")
    return servers[0]


def _process(server: ServerOfHost) -> Target:
    forks = frozenset([server.name] if server.forks else [])
    directories = [server.directory] if server.directory else []
    observed = Observed({server.name: server.pid}, forks, directories)
    return Target(f"{server.name}, process {server.pid}", observed, server.pid)


def _attached(text: str, stack: ExitStack) -> Target:
    """Attach to the server at a URL, and find its process if it is on this host."""
    try:
        (spec,) = with_labels([_with_database(parse_system(text))])
    except ValueError as error:
        raise UserError(str(error)) from None
    system = build(spec)
    refuse_other_processes(system)
    guard = stack.enter_context(Guard())
    folder = stack.enter_context(guard.scratch())
    stack.callback(system.stop)
    try:
        system.start(Launch(guard, folder, 1, 1))
        (version, *_) = [server["version"] for server in system.servers()]
    except RunFailed as error:
        raise UserError(str(error)) from None
    addresses, pids = system.addresses(), server_processes(system)
    servers = {name: server for name, pid in pids.items() if (server := server_of(pid))}
    directories = [server.directory for server in servers.values() if server.directory]
    forks = frozenset(name for name, server in servers.items() if server.forks or system.forks)
    observed = Observed(pids, forks, directories, system.probes(), addresses=addresses)
    return Target(f"{spec.label}, version {version}", observed)


def _with_database(spec: SystemSpec) -> SystemSpec:
    if spec.url is None or spec.url.database or spec.name not in _ANY_DATABASE:
        return spec
    return replace(spec, url=replace(spec.url, database=_ANY_DATABASE[spec.name]))
