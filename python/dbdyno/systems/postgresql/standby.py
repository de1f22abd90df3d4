"""A streaming standby of a private PostgreSQL: a system, and a witness of its primary's crash."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from dbdyno.errors import RunFailed
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.later import LaterModule
from dbdyno.systems.base import Launch
from dbdyno.systems.postgresql.follower import QUESTIONS, PostgreSQLFollower
from dbdyno.systems.postgresql.postgresql import PostgreSQL
from dbdyno.systems.postgresql.probe import connect
from dbdyno.systems.running.endpoint import Endpoint
from dbdyno.systems.running.process import PrivateDirectory, run_to_end
from dbdyno.systems.witness import CATCH_UP_S, Promise, Versions, nothing_of

if TYPE_CHECKING:
    import psycopg
else:
    psycopg = LaterModule("psycopg")

TOOL = "pg_basebackup"
_POLL_S, _STILL_S = 0.1, 2.0
"""How often it is looked at, and how long nothing more was replayed if what it received ends within a record."""
_RETRIES: Mapping[str, str] = {"wal_retrieve_retry_interval": "1s"}
"""A primary that was killed is back within seconds, and the default is five."""
_REPLAYED = (
    "SELECT pg_last_wal_replay_lsn() AS replayed, "
    "pg_last_wal_replay_lsn() >= coalesce(pg_last_wal_receive_lsn(), '0/0') AS is_all"
)


class Standby(PostgreSQL):
    """A standby that answers reads. It is made of its running primary by pg_basebackup, and has a slot there."""

    # On another host there would be no primary beside it.
    serves_hosts = False

    def __init__(self, spec: SystemSpec, primary: PostgreSQL) -> None:
        super().__init__(spec)
        self._primary = primary

    @property
    def server_settings(self) -> dict[str, str]:
        return {**_RETRIES, **super().server_settings}

    def new_password(self) -> str:
        # Its roles are the primary's.
        return self._primary.endpoint.password or ""

    def _make_data(self, directory: PrivateDirectory, data: Path, password: str, launch: Launch) -> None:
        primary = self._primary.endpoint
        login = directory.write("pgpass", f"*:*:*:*:{password}\n")
        # The name that synchronous_standby_names may have.
        name = self.server_name.replace("-", "_")
        host = str(Path(primary.socket).parent) if primary.socket else primary.host
        address = f"host={host} port={primary.port} user={primary.user} passfile={login} application_name={name}"
        if primary.tls:
            address += "".join(f" {key}={value}" for key, value in primary.tls.libpq().items())
        argv = [self.tool_program(TOOL) or TOOL, f"--dbname={address}", f"--pgdata={data}", "--checkpoint=fast"]
        argv += ["--no-sync", "--write-recovery-conf", "--create-slot", f"--slot={name}"]
        run_to_end(argv, directory.path, launch.log_folder / f"server-{self.server_name}.log")


class StandbyWitness:
    """One standby, held against its primary after that was killed.

    promise: that it agrees with its primary, which sends what it has flushed and no earlier.
    """

    unable: str | None = None
    outlives = True

    def __init__(self, name: str, standby: Endpoint, primary: Endpoint, promise: Promise) -> None:
        self.name, self.promise = f"replica {name}", promise
        self._standby = standby
        self._follower = PostgreSQLFollower(self.name, primary, standby, QUESTIONS)

    def alone(self, tables: Mapping[str, int]) -> Versions:
        with self._asking(), connect(self._standby) as connection:
            last, since = None, time.monotonic()
            while (row := connection.execute(_REPLAYED).fetchone() or {})["is_all"] is not True:
                if row["replayed"] != last:
                    last, since = row["replayed"], time.monotonic()
                elif time.monotonic() - since > _STILL_S:
                    break
                time.sleep(_POLL_S)
            return row_versions(self._standby, tables)

    def versions(self, tables: Mapping[str, int]) -> tuple[Versions, str | None]:
        self._follower.catch_up(CATCH_UP_S)
        with self._asking():
            return row_versions(self._standby, tables), None

    @contextmanager
    def _asking(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            raise RunFailed(f"{self.name} does not answer: {' '.join(str(error).split())}") from None


def row_versions(endpoint: Endpoint, tables: Mapping[str, int]) -> Versions:
    """Return the columns `id` and `version` of each table, of so many rows; raises psycopg.Error."""
    versions = nothing_of(tables)
    with connect(endpoint) as connection:
        for table, rows in versions.items():
            for row in connection.execute(f"SELECT id, version FROM {table}"):
                rows[row["id"]] = row["version"]
    return versions


def promise_of(settings: Mapping[str, str]) -> Promise:
    """Return whether a primary sends only what a crash leaves it: what is flushed (PostgreSQL manual, 27.2.5)."""
    return Promise(settings["fsync"] == "on", f"fsync={settings['fsync']}")
