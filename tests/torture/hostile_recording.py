"""Real conversations between dbdyno-load and a server, recorded once by a relay between them."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from dbdyno.conduct.load_client import find_load_client
from dbdyno.errors import DbdynoError
from dbdyno.experiment.system_spec import parse_system, with_labels
from dbdyno.systems import build, missing
from dbdyno.systems.base import Launch
from dbdyno.systems.running.guard import Guard

ROWS = 500
OPERATION_TIMEOUT_S = 0.5
READS = 10
"""As many of a run's reads are played back."""
REAL = {
    "mysql": "mariadb",
    "postgresql": "postgresql",
    "redis": "redis",
    "memcached": "memcached",
    "mongodb": "ferretdb",
    "cql": "cassandra",
}
NULL = {"postgresql": "postgres", "cql": "cassandra"}
"""The name of a protocol at dbdyno-load's null server, if it is another."""
PADDING_BYTES = 117
_PADDED = tuple(re.compile(rb"(\d+)%c{117}" % letter) for letter in b"xy")
"""The columns `c` and `pad` of a row of point-get: its number, and letters up to 120 bytes."""


class Exchange(NamedTuple):
    """A client's request, empty if the server spoke first, and the answer to it."""

    request: bytes
    answer: bytes

    def row(self) -> list[bytes]:
        """Return the columns of the row in the answer that are known by their look; none if there is no row."""
        numbers = [padded[1] for column in _PADDED if (padded := column.search(self.answer))]
        if len(numbers) != len(_PADDED):
            return []
        # Before a number there may be another, the column `k`: any number of writes is right.
        shorter, longer = sorted(numbers, key=len)
        number = next(shorter[at:] for at in range(len(shorter) + 1) if longer.endswith(shorter[at:]))
        return [number + bytes([letter]) * PADDING_BYTES for letter in b"xy"]


class Conversation(NamedTuple):
    """The connections of one execution of a plan, in the order they were opened, and that plan."""

    plan: dict[str, Any]
    secrets: list[str]
    connections: list[list[Exchange]]


def record(protocol: str) -> tuple[str, list[Conversation]]:
    """Return what was recorded and from which server: its name, or `null` for the null server of dbdyno-load."""
    with ExitStack() as closing:
        name, store, secrets = _server(protocol, closing)
        if name != "null":
            _execute(_plan(store, ["prepare", "load"]), secrets)
        phases = [["run"]] if name == "null" else [["run"], ["verify"], ["cleanup"], ["prepare", "load"]]
        conversations = [_record(_plan(store, names), secrets) for names in phases]
        # A store that cannot do a phase takes no connection.
        conversations = [conversation for conversation in conversations if any(conversation.connections)]
        if name != "null":
            _execute(_plan(store, ["cleanup"]), secrets)
        return name, conversations


def _server(protocol: str, closing: ExitStack) -> tuple[str, dict[str, Any], list[str]]:
    """Start the protocol's server; returns its name, the plan's `store` and the secrets."""
    name = REAL.get(protocol)
    (spec,) = with_labels([parse_system(name)]) if name else (None,)
    if spec and not missing(spec):
        system = build(spec)
        guard = closing.enter_context(Guard())
        logs = closing.enter_context(tempfile.TemporaryDirectory())
        closing.callback(system.stop)
        with suppress(DbdynoError):
            system.start(Launch(guard, Path(logs), 8, ROWS))
            secrets: list[str] = []
            return name, system.store_plan(secrets), secrets
    return "null", _null_store(protocol, closing), []


def _null_store(protocol: str, closing: ExitStack) -> dict[str, Any]:
    name = NULL.get(protocol, protocol)
    command = [find_load_client(), "null", "--protocol", name, "--rows", str(ROWS)]
    process = closing.enter_context(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
    closing.callback(process.terminate)
    address = {"host": "127.0.0.1", "port": json.loads(process.stdout.readline())["port"]}
    login = {"user": "u", "password": None, "database": "d"}
    more = {
        "cassandra": {"keyspace": "d", "consistency": "ONE", "user": None, "password": None},
        "mongodb": {"auth_database": "admin", "write": "acknowledged", "user": None},
        "redis": {"database": 0, "layout": "string", "user": None},
        "handlersocket": {"write_address": address, "sql": None},
    }
    store = {"kind": name, "address": address} | ({} if name in ("cassandra", "memcached") else login)
    if name == "handlersocket":
        del store["user"]
    return store | more.get(name, {})


def _plan(store: dict[str, Any], phases: list[str]) -> dict[str, Any]:
    return {
        "contract": 1,
        "phases": phases,
        "store": store,
        "workload": {"name": "point-get", "rows": ROWS},
        "clients": {"first": 0, "count": 1, "of": 1},
        "duration_s": 1,
        "operation_timeout_s": OPERATION_TIMEOUT_S if phases == ["run"] else 10,
        "threads": 1,
        "run_id": "hostile",
    }


def to_port(plan: dict[str, Any], port: int) -> dict[str, Any]:
    """Return a plan for another port of this host."""
    address = {"host": "127.0.0.1", "port": port}
    others = {key: address for key in ("write_address",) if key in plan["store"]}
    timeout = {"operation_timeout_s": OPERATION_TIMEOUT_S}
    return plan | timeout | {"store": plan["store"] | {"address": address} | others}


def _execute(plan: dict[str, Any], secrets: list[str]) -> None:
    stdin = f"{json.dumps(plan)}\n{json.dumps({'secrets': secrets})}\n"
    done = subprocess.run([find_load_client(), "run"], input=stdin, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{plan['phases']} failed: {done.stdout.splitlines()[-1:]} {done.stderr}")


def _record(plan: dict[str, Any], secrets: list[str]) -> Conversation:
    store = plan["store"]
    to = store["address"].get("unix") or (store["address"]["host"], store["address"]["port"])
    with _relay(to) as (port, connections):
        _execute(to_port(plan, port) | {"operation_timeout_s": plan["operation_timeout_s"]}, secrets)
    return Conversation(plan, secrets, [_cut(_without_scram(_exchanges(pieces))) for pieces in connections])


@contextmanager
def _relay(to: tuple[str, int] | str) -> Iterator[tuple[int, list[list[tuple[bool, bytes]]]]]:
    """Yield a port that hands everything on to a server, and the pieces of each connection: from the client or not."""
    listener, connections = socket.create_server(("127.0.0.1", 0)), []

    def hand_on(source: socket.socket, target: socket.socket, is_client: bool, pieces: list[Any]) -> None:
        with suppress(OSError):
            while piece := source.recv(1 << 20):
                pieces.append((is_client, piece))
                target.sendall(piece)
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def accept() -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                server = socket.create_connection(to)
                for side in (client, server):
                    side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                connections.append([])
                for ends in ((client, server, True), (server, client, False)):
                    threading.Thread(target=hand_on, args=(*ends, connections[-1]), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    yield listener.getsockname()[1], connections
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def _exchanges(pieces: list[tuple[bool, bytes]]) -> list[Exchange]:
    pairs: list[list[bytes]] = [[b"", b""]]
    for is_client, piece in pieces:
        if is_client and pairs[-1][1]:
            pairs.append([b"", b""])
        pairs[-1][0 if is_client else 1] += piece
    return [Exchange(*pair) for pair in pairs if pair[0] or pair[1]]


def _without_scram(exchanges: list[Exchange]) -> list[Exchange]:
    """Leave out PostgreSQL's SCRAM, whose answers fit one client's numbers alone: it lets in without a password."""
    if not any(exchange.answer.startswith(b"R\0\0\0\x17\0\0\0\x0aSCRAM") for exchange in exchanges):
        return exchanges
    begins = next(
        i for i, exchange in enumerate(exchanges) if exchange.answer.startswith(b"R\0\0\0\x17\0\0\0\x0aSCRAM")
    )
    ends = next(i for i, exchange in enumerate(exchanges) if b"R\0\0\0\x08\0\0\0\0" in exchange.answer)
    answer = exchanges[ends].answer
    let_in = Exchange(exchanges[begins].request, answer[answer.index(b"R\0\0\0\x08\0\0\0\0") :])
    return [*exchanges[:begins], let_in, *exchanges[ends + 1 :]]


def _cut(exchanges: list[Exchange]) -> list[Exchange]:
    """Cut a run after its first reads, each of another row."""
    rows: list[list[bytes]] = []
    for number, exchange in enumerate(exchanges):
        if row := exchange.row():
            if row in rows or len(rows) == READS:
                return exchanges[:number]
            rows.append(row)
    return exchanges
