"""Servers of the MySQL protocol that dbdyno attaches to, of several versions: those that are installed."""

from contextlib import nullcontext
from urllib.parse import quote

import pytest

from dbdyno.conduct.resolve import resolve, try_out
from dbdyno.errors import UserError
from helpers import experiment

from .test_mysql import EACH


@pytest.mark.parametrize("name", EACH)
def test_a_server_attached_to_is_refused_what_its_version_lacks(started, name, guard):
    endpoint = started(name).endpoint
    url = f"mysql://{endpoint.user}:{quote(endpoint.password)}@127.0.0.1:{endpoint.port}/{endpoint.database}"
    for kind in ("read-only", "read-write"):
        asked = experiment(workload=f"trx-lifecycle?transaction={kind}", system=url).experiment
        lacks = (name, kind) == ("mysql@5.5", "read-only")
        with pytest.raises(UserError, match=r"READ ONLY since 5\.6") if lacks else nullcontext():
            try_out(asked, resolve(asked), guard)
