"""`dbdyno why` names a cause that was put into a real server."""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from helpers import need, need_program, need_stacks

pytestmark = pytest.mark.systems

REPEATED = ("--repeat", "5", "--warmup", "0", "--set", "ceiling=false", "--quiet")
DROP = {"mariadb": "DROP INDEX dbdyno_bm_sid ON dbdyno_bm", "postgresql": "DROP INDEX dbdyno_bm_sid"}
SCANS = {"mariadb": "dbdyno_bm: ALL", "postgresql": "Seq Scan on dbdyno_bm"}
BURN = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>
__attribute__((noinline)) void checksum_of_answer(void) {
    for (volatile int turn = 0; turn < 300000; turn++) {}
}
ssize_t write(int file, const void *bytes, size_t count) {
    static ssize_t (*next)(int, const void *, size_t);
    if (!next) next = (ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    checksum_of_answer();
    return next(file, bytes, count);
}
"""


def _evidence(dbdyno, *runs):
    """Return the evidence of the only confirmed difference between two systems of a run, or between two runs."""
    status, out, err = dbdyno("why", *runs, "--json")
    assert (status, err) == (0, "")
    (cell,) = json.loads(out)
    return cell["verdict"], cell["evidence"]


def _run(dbdyno, *arguments):
    status, out, err = dbdyno("run", *REPEATED, *arguments)
    assert status == 0, out + err
    (newest,) = {*map(str, Path("runs").iterdir())} - {str(path) for path in _run.known}
    _run.known.add(newest)
    return newest


@pytest.fixture(autouse=True)
def no_run_is_known():
    _run.known = set()


@pytest.mark.parametrize("system", ["mariadb", "postgresql"])
def test_a_dropped_index_is_a_plan_that_explains_most(dbdyno, system):
    need(system)
    Path("find.toml").write_text(
        'workload = "secondary-get"\nsystem = "NAME"\nrows = 20000\nclients = 2\nseconds = 10\n'.replace("NAME", system)
    )
    Path("drop.toml").write_text(
        Path("find.toml").read_text() + f'[[events]]\nat = 3\nname = "mistake"\nsql = "{DROP[system]}"\n'
    )
    before, after = _run(dbdyno, "find.toml"), _run(dbdyno, "drop.toml")
    verdict, (first, *_) = _evidence(dbdyno, before, after)
    assert verdict == "slower"
    assert (first["kind"], first["name"], first["note"]) == ("plan", "find", "only after the load")
    assert "dbdyno_bm_sid" in first["before"] and first["after"] == SCANS[system] and first["share"] > 0.9


def test_a_smaller_buffer_pool_is_a_setting_and_pages_are_read(dbdyno):
    need("mariadb")
    sides = ("mariadb", "mariadb?innodb_buffer_pool_size=8M")
    systems = [word for side in sides for word in ("--system", side)]
    run = _run(dbdyno, "point-get", *systems, "--rows", "300000", "--clients", "2", "--seconds", "3")
    verdict, evidence = _evidence(dbdyno, run)
    settings = [(piece["name"], piece["after"]) for piece in evidence if piece["kind"] == "setting"]
    counted = [piece["name"] for piece in evidence if piece["kind"] == "counter"]
    assert verdict == "slower" and ("innodb_buffer_pool_size", "8388608") in settings
    assert settings[0][0] == "innodb_buffer_pool_size"
    assert any("Innodb_buffer_pool_reads" in name or "Innodb_pages_read" in name for name in counted), counted


def test_a_flush_policy_is_a_setting_and_flushes_become_fewer(dbdyno):
    need("mariadb")
    sides = ("mariadb", "mariadb?innodb_flush_log_at_trx_commit=2")
    systems = [word for side in sides for word in ("--system", side)]
    run = _run(dbdyno, "point-update", *systems, "--rows", "1000", "--clients", "2", "--seconds", "3")
    verdict, (first, *others) = _evidence(dbdyno, run)
    assert (verdict, first["kind"], first["name"]) == ("faster", "setting", "innodb_flush_log_at_trx_commit")
    assert (first["before"], first["after"]) == ("1", "2")
    assert any("flushes" in piece["name"] for piece in others), [piece["name"] for piece in others]


@pytest.fixture
def folder():
    """A folder that the user of servers gets to."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_a_slower_function_is_named_with_its_flame_graph(dbdyno, folder):
    need("redis")
    need_stacks()
    need_program("gcc", "gcc")
    (folder / "slow.c").write_text(BURN)
    library, program = folder / "slow.so", folder / "redis-server"
    subprocess.run(["gcc", "-g", "-O1", "-shared", "-fPIC", "-o", library, folder / "slow.c", "-ldl"], check=True)
    program.write_text(f'#!/bin/sh\nLD_PRELOAD="{library}" exec "{shutil.which("redis-server")}" "$@"\n')
    program.chmod(0o755)
    systems = ("--system", "redis", "--system", f"redis?binary={program}")
    # Each profile reads stacks for longer than the trial took.
    few = ("--rows", "1000", "--clients", "1", "--seconds", "1", "--repeat", "3", "--profile")
    run = _run(dbdyno, "point-get", *systems, *few)
    verdict, evidence = _evidence(dbdyno, run)
    functions = [piece for piece in evidence if piece["kind"] == "function"]
    assert verdict == "slower" and functions[0]["name"].startswith("checksum_of_answer, running (server")
    assert functions[0]["share"] > 0.5 and functions[0]["note"].startswith("flame graph: ")
