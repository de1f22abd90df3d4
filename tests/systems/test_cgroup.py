"""A memory limit is a limit, or is refused."""

import pytest

from dbdyno.errors import UserError
from dbdyno.systems import cgroup
from dbdyno.systems.base import Launch
from dbdyno.systems.cgroup import MemoryCgroup
from helpers import need, system

LIMIT_BYTES = 64 << 20


def test_where_no_group_can_be_made_it_is_said(guard, monkeypatch, tmp_path):
    monkeypatch.setattr(cgroup, "_parents", lambda: [tmp_path])
    with pytest.raises(UserError, match="does not let dbdyno limit memory"):
        MemoryCgroup(LIMIT_BYTES, guard)
    assert not list(tmp_path.iterdir())


def test_a_server_is_held_to_its_limit(guard, tmp_path):
    need("redis")
    try:
        MemoryCgroup(LIMIT_BYTES, guard).remove()
    except UserError as error:
        pytest.skip(str(error))
    redis = system("redis")
    try:
        redis.start(Launch(guard, tmp_path, clients=1, rows=1, memory_limit_bytes=LIMIT_BYTES))
        group = redis._server._limit.path
        limits = [path for name in ("memory.max", "memory.limit_in_bytes") if (path := group / name).exists()]
        assert int(limits[0].read_text()) == LIMIT_BYTES
        assert str(redis.server_pids()["redis"]) in (group / "cgroup.procs").read_text().split()
    finally:
        redis.stop()
    assert not group.exists()
