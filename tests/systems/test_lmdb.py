"""LMDB's plan and what its sync promises."""

import pytest

from helpers import system


@pytest.mark.parametrize(("sync", "level"), [("full", "D2"), ("no-meta-sync", "D1"), ("none", "D0")])
def test_the_plan_and_the_durability(launch, sync, level):
    lmdb = system(f"lmdb?sync={sync}")
    lmdb.start(launch)
    plan = lmdb.store_plan([])
    assert (plan["kind"], plan["path"], plan["sync"]) == ("lmdb", str(lmdb.path), sync)
    assert plan["map_size_bytes"] > launch.rows * 10_000
    assert lmdb.durability().level == level
    lmdb.stop()


def test_a_map_size_that_is_given_is_kept(launch):
    lmdb = system("lmdb?map_size_bytes=1048576")
    lmdb.start(launch)
    assert lmdb.store_plan([])["map_size_bytes"] == 1 << 20
    lmdb.stop()
