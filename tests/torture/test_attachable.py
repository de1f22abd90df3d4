"""Every shipped experiment that can run on somebody else's server is drawn, and no other."""

import subprocess
import sys

import pytest

from torture.attachable import SHORT, attachable, options_of
from torture.attached import DATABASE, KINDS, without_empty


@pytest.mark.parametrize("scheme", sorted({kind.scheme for kind in KINDS}))
def test_all_that_can_attach_is_there(scheme):
    there = attachable(scheme)
    assert {"point-get", "game", "ycsb", "facebook-etc", "key-subset"} <= there.keys()
    assert not {"durability", "dump-restore", "air-traffic", "server-cores"} & there.keys()
    assert len(there["batch-get"]) == 2


def test_groups_of_clients_are_those_of_the_file():
    assert attachable("mysql")["insert-benchmark"] == [SHORT]


def test_keys_are_options_of_a_run():
    (keys, *_) = attachable("redis")["ycsb"]
    command = [sys.executable, "-m", "dbdyno", "run", "ycsb", *options_of(keys), "--system", "redis://127.0.0.1:1/0"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 2 and "no server answers there" in ended.stderr


def test_only_an_empty_database_of_sysbenchs_is_left_out():
    empty = {"table `d`.`t`": 1, f"database {DATABASE}": 2, f"triggers {DATABASE}": ()}
    assert without_empty(empty) == {"table `d`.`t`": 1}
    filled = empty | {f"table `{DATABASE}`.`sbtest1`": 3}
    assert without_empty(filled) == filled
