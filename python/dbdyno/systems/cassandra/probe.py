"""Counters of Cassandra, read by its own protocol: the virtual tables of `system_views`.

They are read through cassandra-driver, which is loaded only if there is a Cassandra to look at.
"""

from collections.abc import Iterable
from contextlib import suppress

from cassandra import DriverException, InvalidRequest, OperationTimedOut
from cassandra.auth import PlainTextAuthProvider
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile, NoHostAvailable, Session
from cassandra.policies import WhiteListRoundRobinPolicy
from cassandra.query import dict_factory

from dbdyno.errors import RunFailed
from dbdyno.load_python.libraries.cassandra_nesting import bound_nesting
from dbdyno.systems.answers import Answer
from dbdyno.systems.probe import ANSWER_TIMEOUT_S, Probe, named
from dbdyno.systems.running.endpoint import CONNECT_TIMEOUT_S, Endpoint

DRIVER_ERRORS = (DriverException, OperationTimedOut, NoHostAvailable, InvalidRequest, OSError)
POOLS = {
    "ReadStage": "read",
    "MutationStage": "write",
    "Native-Transport-Requests": "request",
    "CompactionExecutor": "compaction",
    "MemtableFlushWriter": "flush",
}
"""dbdyno's name of what a thread pool does."""
_OF_A_POOL = {
    "active_tasks": "{}_tasks_active",
    "active_tasks_limit": "{}_tasks_limit",
    "pending_tasks": "{}_tasks_pending",
    "blocked_tasks": "{}_tasks_blocked",
    "completed_tasks": "{}_tasks_total",
}
_OF_A_CACHE = {
    "hit_count": "{}_cache_hits_total",
    "request_count": "{}_cache_requests_total",
    "entry_count": "{}_cache_entries",
    "size_bytes": "{}_cache_bytes",
}


def connect(endpoint: Endpoint, timeout_s: float = CONNECT_TIMEOUT_S) -> tuple[Cluster, Session]:
    """Return a connection to one server alone; raises one of DRIVER_ERRORS. Close it by the cluster's `shutdown`."""
    bound_nesting()
    login = PlainTextAuthProvider(endpoint.user, endpoint.password) if endpoint.user else None
    profile = ExecutionProfile(
        WhiteListRoundRobinPolicy([endpoint.host]), request_timeout=timeout_s, row_factory=dict_factory
    )
    cluster = Cluster(
        [endpoint.host],
        endpoint.port,
        auth_provider=login,
        execution_profiles={EXEC_PROFILE_DEFAULT: profile},
        protocol_version=4,
        connect_timeout=timeout_s,
        control_connection_timeout=timeout_s,
        # Nothing here needs the schema and the tokens that the driver would read.
        schema_metadata_enabled=False,
        token_metadata_enabled=False,
        idle_heartbeat_interval=0,
    )
    try:
        return cluster, cluster.connect()
    except BaseException:
        cluster.shutdown()
        raise


def ask(endpoint: Endpoint, *statements: str) -> list[list[Answer]]:
    """Return the rows of each statement; none of a table that this server has not. Raises RunFailed."""
    try:
        cluster, session = connect(endpoint)
    except DRIVER_ERRORS as error:
        raise RunFailed(words_of(error)) from None
    try:
        return [_rows(session, statement) for statement in statements]
    except DRIVER_ERRORS as error:
        raise RunFailed(words_of(error)) from None
    finally:
        cluster.shutdown()


def words_of(error: Exception) -> str:
    """Return what went wrong in the words of the one host that was asked."""
    if isinstance(error, NoHostAvailable) and error.errors:
        error = next(iter(error.errors.values()))
    return str(error)


def _rows(session: Session, statement: str) -> list[Answer]:
    try:
        return list(session.execute(statement))
    except InvalidRequest:
        return []


class CassandraProbe(Probe):
    """Reads two virtual tables, which the server makes of its counters as they are read."""

    def __init__(self, server: str, endpoint: Endpoint) -> None:
        super().__init__(server)
        self._endpoint = endpoint
        self._cluster: Cluster | None = None
        self._session: Session | None = None

    def open(self) -> None:
        self.close()
        try:
            self._cluster, self._session = connect(self._endpoint, ANSWER_TIMEOUT_S)
        except DRIVER_ERRORS as error:
            raise RunFailed(f"{self.server} does not show its figures: {words_of(error)}") from None

    def counters(self) -> dict[str, float]:
        try:
            pools = _rows(self._session, "SELECT * FROM system_views.thread_pools")
            caches = _rows(self._session, "SELECT * FROM system_views.caches")
        except DRIVER_ERRORS as error:
            raise RunFailed(f"{self.server} does not show its figures: {words_of(error)}") from None
        return figures(pools, caches)

    def close(self) -> None:
        if self._cluster:
            with suppress(*DRIVER_ERRORS):
                self._cluster.shutdown()
        self._cluster = self._session = None


def figures(pools: Iterable[Answer], caches: Iterable[Answer]) -> dict[str, float]:
    """Return the figures of the thread pools and the caches, under dbdyno's names."""
    values: dict[str, float] = {}
    for pool in pools:
        if does := POOLS.get(pool["name"]):
            values |= named(pool, {theirs: ours.format(does) for theirs, ours in _OF_A_POOL.items()})
    for cache in caches:
        # `chunks` and `keys` are the names of caches of single chunks and keys.
        values |= named(cache, {theirs: ours.format(cache["name"].rstrip("s")) for theirs, ours in _OF_A_CACHE.items()})
    return values
