"""LMDB's plan and what its sync promises."""

import shutil
from dataclasses import replace

import pytest

from dbdyno.errors import UserError
from helpers import system
from systems.load import execute


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


def test_a_map_of_parts_of_pages_is_refused():
    with pytest.raises(UserError, match="give a multiple of 65536"):
        system("lmdb?map_size_bytes=1000000")


def test_a_map_that_it_makes_larger_than_it_was_given_is_an_error_with_both(launch):
    first, second = system("lmdb"), system("lmdb?map_size_bytes=65536")
    first.start(launch)
    assert execute(first, "point-get", ["prepare", "load"], rows=1000).status == 0
    kept = first.keep().path
    try:
        second.start(replace(launch, data=kept))
        (last,) = execute(second, "point-get", ["run"], rows=1000).of("end")
    finally:
        second.stop()
        shutil.rmtree(kept)
    assert "a map of 65536 bytes" in last["reason"] and "LMDB has" in last["reason"]
