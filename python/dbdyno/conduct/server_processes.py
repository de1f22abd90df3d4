"""The processes of a system's servers on this host, whether dbdyno started them or not."""

from dbdyno.errors import UserError
from dbdyno.observe.named_process import why_not_server
from dbdyno.observe.queues import listener, socket_listener
from dbdyno.systems.base import System


def server_processes(system: System) -> dict[str, int]:
    """Return the process of each server by its name.

    An attached server is the process that a person named, else the one that listens at its port or socket, if this user
    may see it.
    """
    if started := system.server_pids():
        return started
    pids = {name: pid for name, address in system.addresses().items() if (pid := listener(*address))}
    pids |= {name: pid for name, path in system.sockets().items() if (pid := socket_listener(path))}
    return pids | {name: named.pid for name, named in system.named_processes().items()}


def refuse_other_processes(system: System) -> None:
    """Raise UserError if a process that a person named is not the server at its address."""
    for named in system.named_processes().values():
        if reason := why_not_server(named.pid, named.address, named.socket):
            raise UserError(f"{system.spec.label}: pid={named.pid}: {reason}")
