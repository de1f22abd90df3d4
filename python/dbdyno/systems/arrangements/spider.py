"""MariaDB's engine Spider: a server in front whose tables lead to those of backends, all of them started privately."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dbdyno.errors import UserError
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.experiment.workloads import DELETE, OPERATIONS, PUT, READ_ONLY, SCAN, SQL, SUM_RANGE, TRANSACTION
from dbdyno.systems.arrangements.cluster import LEVELS, Cluster
from dbdyno.systems.base import Durability, Launch
from dbdyno.systems.mysql.mariadb import VARIABLES, MariaDB
from dbdyno.systems.space import Space

if TYPE_CHECKING:
    from dbdyno.contract import StoreDocument

SPIDER = "Spider"
MOST_BACKENDS = 9
OF_THE_FRONT = ("connect", "protocol", "tls")
"""Settings of how clients come to the server in front; `spider_…` are its too, and all others are the backends'."""
_BACKGROUND_CONNECTIONS = 40
"""More connections than clients: Spider's threads that ask a backend for statistics have their own."""
SPIDER_VARIABLES = (
    "spider_internal_xa",
    "spider_sync_autocommit",
    "spider_sync_trx_isolation",
    "spider_semi_trx",
    "spider_semi_table_lock",
    "spider_bulk_size",
    "spider_bgs_mode",
    "spider_conn_recycle_mode",
    "spider_quick_mode",
    "spider_remote_access_charset",
)


NOT_OVER_SEVERAL = frozenset({SQL, TRANSACTION, READ_ONLY, PUT, DELETE, SCAN, SUM_RANGE})
"""Refused with several backends: Spider's partitioned tables answered SQL of oltp with errors, and deletions
with no row where there was one (10.11.19), so nothing is put or deleted there. A transaction at several is not one
commit."""


class Front(MariaDB):
    """The server that clients know; its tables have no rows."""

    shown_variables: tuple[str, ...] = VARIABLES + SPIDER_VARIABLES

    def __init__(self, spec: SystemSpec) -> None:
        super().__init__(spec)
        self.engine = SPIDER

    def store_plan(self, secrets: list[str]) -> StoreDocument:
        # Spider has a backend send text in the character set of the table in front, whatever a column's is.
        return {**super().store_plan(secrets), "table_options": f"ENGINE={SPIDER} DEFAULT CHARSET=utf8mb4"}

    def lead_to(self, backends: list[MariaDB]) -> None:
        """Make each backend known as `dbdyno_1`, `dbdyno_2` …, which the load client's tables name (docs/contract.md).

        Raises RunFailed if the server does not answer.
        """
        for number, backend in enumerate(backends, 1):
            endpoint = backend.endpoint
            self._ask(
                f"CREATE OR REPLACE SERVER dbdyno_{number} FOREIGN DATA WRAPPER mysql OPTIONS "
                f"(HOST '{endpoint.host}', PORT {endpoint.port}, USER '{endpoint.user}', "
                f"PASSWORD '{endpoint.password}', DATABASE '{endpoint.database}')"
            )


class Spider(Cluster):
    """`mariadb?engine=Spider`. Settings: `backends`, those of `OF_THE_FRONT`, and any server variable.

    Rows are divided among the backends by key.
    """

    name = "spider"

    @classmethod
    def serves(cls, spec: SystemSpec) -> bool:
        return (spec.url, spec.name) == (None, MariaDB.name) and spec.settings.get("engine", "").lower() == cls.name

    def __init__(self, spec: SystemSpec) -> None:
        """Take a configuration; raises UserError if Spider cannot be so."""
        settings = {key: value for key, value in spec.settings.items() if key not in ("engine", "backends", "access")}
        count = spec.settings.get("backends", "1")
        if count not in map(str, range(1, MOST_BACKENDS + 1)):
            raise UserError(f"{spec.label}: backends = '{count}': give a number from 1 to {MOST_BACKENDS}")
        if spec.settings.get("access", "sql") != "sql":
            raise UserError(f"{spec.label}: HANDLER does not open tables of Spider: leave 'access' out")
        of_front = {key for key in settings if key in OF_THE_FRONT or key.startswith("spider_")}
        self._front = Front(replace(spec, settings={key: settings[key] for key in settings if key in of_front}))
        of_backend = replace(spec, settings={key: settings[key] for key in settings if key not in of_front})
        self._backends = [MariaDB(of_backend) for _ in range(int(count))]
        super().__init__(spec, [self._front, *self._backends])
        self.operations = frozenset(OPERATIONS) - (NOT_OVER_SEVERAL if len(self._backends) > 1 else set())
        self._front.server_name = "spider-front"
        for number, backend in enumerate(self._backends, 1):
            backend.server_name = f"spider-backend-{number}"

    def start(self, launch: Launch) -> None:
        # It says whether there is a Spider at all.
        self._front.start(launch)
        for backend in self._backends:
            backend.start(replace(launch, clients=launch.clients + _BACKGROUND_CONNECTIONS))
        self._front.lead_to(self._backends)

    def space(self, records: float, data_bytes: float) -> Space:
        count = len(self._backends)
        shares = (backend.space(records / count, data_bytes / count) for backend in self._backends)
        return sum(shares, self._front.space(0, 0))

    def durability(self) -> Durability:
        """Return the least that any backend promises: the server in front hands each statement on and keeps nothing."""
        least = min(
            (backend.durability() for backend in self._backends), key=lambda durability: LEVELS.index(durability.level)
        )
        return Durability(least.level, f"{least.reason}, at the backend that has the row")

    def store_plan(self, secrets: list[str]) -> StoreDocument:
        plan = self._front.store_plan(secrets)
        return {**plan, "backends": [backend.store_plan(secrets) for backend in self._backends]}
