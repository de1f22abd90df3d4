"""All that is shipped and can run on somebody else's server: dbdyno itself is asked, so nothing new is left out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from functools import cache

from dbdyno.conduct.resolve import resolve
from dbdyno.errors import UserError
from dbdyno.experiment.model import Experiment
from dbdyno.experiment.read import read_experiment
from dbdyno.experiment.shipped_files import shipped_experiments
from dbdyno.experiment.toml import Table

SHORT = {"seconds": 1, "warmup_seconds": 0, "host": False, "ceiling": False}
CLIENTS = [2]
URLS = {"redis": "redis://host/0", "memcached": "memcached://host"}
"""A server of each scheme as an experiment names it; of other schemes it has a user and a database."""


@cache
def attachable(scheme: str) -> dict[str, list[Table]]:
    """Return each shipped experiment that can run on a server of a scheme, with the keys of a run of each workload."""
    url = URLS.get(scheme, f"{scheme}://user@host/database")
    return {name: keys for name in shipped_experiments() if (keys := list(_runs(name, url)))}


def _runs(name: str, url: str) -> Iterator[Table]:
    try:
        experiment = read_experiment(name, {"system": [url]}).experiment
    except UserError:
        # It takes events or client libraries of another system.
        return
    for keys in _choices(experiment):
        with suppress(UserError):
            resolve(read_experiment(name, {"system": [url], **keys}).experiment)
            yield keys


def _choices(experiment: Experiment) -> Iterator[Table]:
    """Yield the keys that choose each workload of an experiment, or all of them if it has groups of clients."""
    if experiment.groups:
        yield SHORT
        return
    for workload in experiment.workload:
        query = "&".join(f"{key}={value}" for key, value in workload.options.items())
        yield SHORT | {"clients": CLIENTS, "workload": f"{workload.name}?{query}".rstrip("?"), "options": {}}


def options_of(keys: Table) -> list[str]:
    """Return keys as options of `dbdyno run`; the JSON of such values is TOML."""
    return [word for key, value in keys.items() for word in ("--set", f"{key}={json.dumps(value)}")]
