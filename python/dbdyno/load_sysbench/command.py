"""How sysbench is called: its driver's options, the script's own, what a person gave, and a command."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dbdyno.contract import StoreDocument
from dbdyno.load_sysbench.plan import DRIVERS, Plan

SIZES = {"table_size": "rows", "tables": "tables"}
"""Options of a script that the plan has a value for; only those that the script says it has are given."""


def command(plan: Plan, verb: str, known: str, seconds: int = 0) -> list[str]:
    """Return the program and its arguments to `prepare`, `prewarm`, `run` or `cleanup`.

    known: what the script's `help` says. Options that a person gave come last, and so win. The password is no argument,
    as everybody may see these: it comes in a configuration file, on standard input.
    """
    sizes = [
        f"--{option.replace('_', '-')}={value}"
        for option, key in SIZES.items()
        if f"--{option}" in known and (value := getattr(plan, key)) is not None
    ]
    measured = [f"--time={seconds}", "--report-interval=1", "--histogram=on"] if verb == "run" else []
    where = ["--config-file=/dev/stdin", *_place(plan.store)]
    return ["sysbench", *where, f"--threads={plan.clients}", *measured, *sizes, *plan.given, str(plan.script), verb]


def configuration(plan: Plan) -> str:
    """Return the configuration file that the password comes in."""
    return "" if plan.password is None else f"{DRIVERS[plan.store['kind']]}-password={plan.password}\n"


def _place(store: StoreDocument) -> Iterator[str]:
    driver, address = DRIVERS[store["kind"]], store["address"]
    yield f"--db-driver={driver}"
    yield f"--{driver}-user={store['user']}"
    yield f"--{driver}-db={store['database']}"
    if "unix" not in address:
        yield f"--{driver}-host={address['host']}"
        yield f"--{driver}-port={address['port']}"
    elif driver == "mysql":
        yield f"--mysql-socket={address['unix']}"
    else:
        # To libpq a socket is its directory and the port that its name ends in.
        yield f"--pgsql-host={Path(address['unix']).parent}"
        yield f"--pgsql-port={address['unix'].rpartition('.')[2]}"
    if table_options := store.get("table_options"):
        yield f"--mysql-storage-engine={table_options.removeprefix('ENGINE=')}"
