"""TiDB's settings: which of those that it shows do something, and which of the others' it does not have."""

from dbdyno.errors import UserError
from dbdyno.experiment.system_spec import SystemSpec

NOT_SETTINGS = {
    "engine": "TiDB ignores the engine of a table",
    "access": "TiDB has no HANDLER",
}
"""Settings of the others of this protocol, and why they are none here."""
VARIABLES = (
    "transaction_isolation",
    "tidb_txn_mode",
    "tidb_enable_1pc",
    "tidb_enable_async_commit",
    "tidb_guarantee_linearizability",
    "tidb_enable_prepared_plan_cache",
    "tidb_server_memory_limit",
    "tidb_mem_quota_query",
    "max_connections",
    "tidb_enable_noop_functions",
)
"""System variables that decide what a benchmark measures."""
ACTIVE = "SELECT VARIABLE_NAME, CURRENT_VALUE FROM information_schema.VARIABLES_INFO WHERE IS_NOOP = 'NO'"
"""Asks for the variables that do something: MySQL's others are shown as they were set, and nothing follows them."""
OWN = "SHOW GLOBAL VARIABLES WHERE Variable_name LIKE 'tidb%' OR Variable_name = 'version'"
"""The same of one that is too old to say which do nothing: of those that MySQL has as well, none is believed."""


def is_tidb(version: str) -> bool:
    """Return whether a server of the MySQL protocol that calls itself so is TiDB."""
    return "tidb" in version.lower()


def refuse_what_it_lacks(spec: SystemSpec) -> None:
    """Raise UserError for a setting that TiDB would take and forget, or has no like of."""
    for key, why in NOT_SETTINGS.items():
        if key in spec.settings:
            raise UserError(f"{spec.label}: '{key}' cannot be set: {why}; leave it out")
