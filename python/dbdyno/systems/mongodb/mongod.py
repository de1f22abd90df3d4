"""MongoDB, started privately from where its program is: a replica set of one member, with one write concern for all."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from dbdyno.errors import UserError
from dbdyno.systems.answers import Answer
from dbdyno.systems.base import Durability, Launch, Room
from dbdyno.systems.builds.config import paths
from dbdyno.systems.builds.layout import Layout, beside
from dbdyno.systems.mongodb.mongodb import UNACKNOWLEDGED, MongoServer, client_module
from dbdyno.systems.mongodb.no_answer import NoAnswer
from dbdyno.systems.running.endpoint import CONNECT_TIMEOUT_S, Endpoint
from dbdyno.systems.running.process import PrivateDirectory, ServerProcess, find_program
from dbdyno.systems.settings import PRIVATE, without_secrets
from dbdyno.systems.space import Storage

if TYPE_CHECKING:
    from dbdyno.results.json_types import ServerStated

CONCERNS: Mapping[str, Answer] = {
    "majority": {"w": "majority"},
    "journaled": {"w": 1, "j": True},
    "w1": {"w": 1, "j": False},
    "unacknowledged": {"w": 1, "j": False},
}
"""Values of `write`, MongoDB's default first, and the write concern that the server gives commands which name none."""
RESERVED = frozenset(
    (
        *("dbpath", "bind_ip", "bind_ip_all", "replset", "config", "fork", "logpath", "syslog", "pidfilepath"),
        *("auth", "keyfile", "tlsmode", "shardsvr", "configsvr", "nounixsocket", "unixsocketprefix"),
    )
)
"""Options that say where the server is, who gets in and what it belongs to."""
_SET, _DATABASE, _PARAMETER = "dbdyno", "dbdyno", "setParameter."
OF_FILE = {
    "storage.engine": "storageEngine",
    "storage.syncPeriodSecs": "syncdelay",
    "storage.journal.commitIntervalMs": "journalCommitInterval",
    "storage.wiredTiger.engineConfig.cacheSizeGB": "wiredTigerCacheSizeGB",
    "storage.wiredTiger.engineConfig.journalCompressor": "wiredTigerJournalCompressor",
    "storage.wiredTiger.collectionConfig.blockCompressor": "wiredTigerCollectionBlockCompressor",
    "storage.wiredTiger.indexConfig.prefixCompression": "wiredTigerIndexPrefixCompression",
    "replication.oplogSizeMB": "oplogSize",
    "operationProfiling.slowOpThresholdMs": "slowms",
    "net.maxIncomingConnections": "maxConns",
    "processManagement.timeZoneInfo": "timeZoneInfo",
    "storage.dbPath": "dbpath",
    "net.port": "port",
    "net.bindIp": "bind_ip",
    "net.bindIpAll": "bind_ip_all",
    "net.tls.mode": "tlsMode",
    "net.unixDomainSocket.enabled": "nounixsocket",
    "replication.replSetName": "replSet",
    "processManagement.fork": "fork",
    "processManagement.pidFilePath": "pidfilepath",
    "security.authorization": "auth",
    "security.keyFile": "keyFile",
    "sharding.clusterRole": "shardsvr",
    "systemLog.destination": "logpath",
    "systemLog.path": "logpath",
    "systemLog.logAppend": "logpath",
}
"""Paths in mongod.conf, and the option for each; from `storage.dbPath` on they are dbdyno's own to give."""
_PROMISES = {
    "majority": Durability("D2", "write=majority: the only member has flushed its journal when it acknowledges"),
    "journaled": Durability("D2", "write=journaled: the journal is flushed before a write is acknowledged (j: true)"),
    "w1": Durability("D1", "write=w1: the journal is flushed each journalCommitInterval, by default 100 ms"),
    "unacknowledged": UNACKNOWLEDGED,
}


class MongoDB(MongoServer):
    """A private mongod. Settings: `write`, its options (`wiredTigerCacheSizeGB`), `setParameter.NAME`.

    It has no passwords: whoever gets at its port is let in.
    """

    name = "mongodb"
    what = "MongoDB by its path (binary=/usr/bin/mongod; write=majority, journaled, w1, unacknowledged)"
    own_settings: ClassVar[tuple[str, ...]] = ("write", "connect")
    writes = tuple(CONCERNS)
    layout = Layout(
        "binary",
        beside("mongod"),
        re.compile(r"^db version v(?P<version>\S+)", re.MULTILINE),
        config=paths(OF_FILE, "setParameter"),
    )
    reserved = PRIVATE | RESERVED
    room: ClassVar[Mapping[str, Room]] = {}
    storage: ClassVar[Storage] = Storage(1.5, 40, empty_bytes=300_000_000)
    levers: Mapping[str, str] = {"disk": "wiredTigerCacheSizeGB=1", "commit": "write=w1"}

    @classmethod
    def missing(cls) -> str | None:
        if find_program("mongod"):
            return None
        return "mongod is not installed: no registry has it; install it, or say mongodb?binary=/path/to/mongod"

    def start(self, launch: Launch) -> None:
        if self.on_socket:
            raise UserError(f"{self.spec.label}: mongod is reached by TCP: leave 'connect' out")
        self._directory = directory = PrivateDirectory(launch)
        port = self.new_port()
        argv = [
            *self.program("mongod"),
            f"--dbpath={directory.folder('data')}",
            "--bind_ip=127.0.0.1",
            f"--port={port}",
            f"--replSet={_SET}",
            "--nounixsocket",
            *self._options(),
        ]
        self.endpoint = Endpoint("127.0.0.1", port, database=_DATABASE)
        self._server = ServerProcess(self.server_name, argv, directory, launch)
        self._server.wait_ready(self.listens)
        self._command({"replSetInitiate": {"_id": _SET, "members": [{"_id": 0, "host": f"127.0.0.1:{port}"}]}})
        self._server.wait_ready(self._is_primary)
        self._command({"setDefaultRWConcern": 1, "defaultWriteConcern": self._concern})

    @property
    def _write(self) -> str:
        return self.spec.settings.get("write", self.writes[0])

    @property
    def _concern(self) -> Answer:
        return CONCERNS[self._write]

    def _options(self) -> list[str]:
        """Return the options of the settings; a parameter's setting has that before its name."""
        options = []
        for key, value in self.server_settings.items():
            if key.startswith(_PARAMETER):
                options += ["--setParameter", f"{key.removeprefix(_PARAMETER)}={value}"]
            else:
                options.append(f"--{key}={value}" if value else f"--{key}")
        return options

    def _command(self, command: Answer) -> Answer:
        """Return the answer to a command of the administrator's; raises UserError if the server refuses it."""
        endpoint = replace(self.endpoint, database="admin")
        try:
            answer: Answer = client_module().ask(endpoint, self.auth_database, command, CONNECT_TIMEOUT_S)
        except NoAnswer as error:
            raise UserError(f"{self.spec.label}: mongod refuses {next(iter(command))}: {error}") from None
        return answer

    def _is_primary(self) -> bool:
        try:
            return bool(self._ask("hello").get("isWritablePrimary"))
        except NoAnswer:
            return False

    def servers(self) -> list[ServerStated]:
        with self.asking():
            version = self._ask("buildInfo").get("version")
        there = self._command({"getDefaultRWConcern": 1}).get("defaultWriteConcern", {})
        effective = {"defaultWriteConcern": ", ".join(f"{key}: {value}" for key, value in there.items())}
        return [{"name": self.server_name, "version": version, "effective_settings": effective}]

    def all_settings(self) -> dict[str, dict[str, str]]:
        settings = self._ask_admin("getParameter", "*") | self._ask_admin("getCmdLineOpts", 1)
        return {self.server_name: without_secrets(settings)}

    def data_directories(self) -> tuple[Path, ...]:
        return (self._directory.path / "data",) if self._directory else ()

    def durability(self) -> Durability:
        settings = self.server_settings
        if settings.get("storageEngine") == "inMemory":
            return Durability("D0", "storageEngine=inMemory")
        if "nojournal" in settings and self.acknowledges:
            return Durability("D1", "nojournal: flushed at checkpoints alone, by default each 60 s")
        return _PROMISES[self._write]
