"""`dbdyno ci` on a real server and a copy of it that is slower by a known delay, put in by a preloaded library."""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from helpers import need

DELAY_MS = 5
SOURCE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
#include <unistd.h>
ssize_t write(int file, const void *bytes, size_t count) {
    static ssize_t (*next)(int, const void *, size_t);
    if (!next) next = (ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    struct timespec delay = {0, DELAY_MS * 1000000L};
    nanosleep(&delay, NULL);
    return next(file, bytes, count);
}
"""
SMALL = ("--clients", "1", "--seconds", "1", "--warmup", "0", "--rows", "100", "--set", "ceiling=false")


@pytest.fixture
def slowed():
    """A program that is the server of this host, and sends each answer later; every user may read it."""
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield _slowed(Path(name))


def _slowed(folder):
    source, library = folder / "slow.c", folder / "slow.so"
    source.write_text(SOURCE)
    command = ["gcc", "-shared", "-fPIC", f"-DDELAY_MS={DELAY_MS}", "-o", str(library), str(source), "-ldl"]
    subprocess.run(command, check=True)
    program = folder / "redis-server"
    program.write_text(f'#!/bin/sh\nLD_PRELOAD="{library}" exec "{shutil.which("redis-server")}" "$@"\n')
    program.chmod(0o755)
    return program


@pytest.mark.systems
def test_a_copy_that_a_preloaded_library_slows_is_slower_by_an_interval_that_covers_the_delay(dbdyno, slowed):
    need("redis")
    head = f"redis?binary={slowed}"
    status, out, err = dbdyno("ci", "point-get", "--base", "redis", "--head", head, *SMALL, "--set", "host=false")
    assert status == 1, out + err
    (comparison,) = json.loads(Path("dbdyno-ci/ci.json").read_text())["comparisons"]
    assert comparison["outcome"] == "slower"
    base_s = sum(1 / rate for rate in comparison["base_per_s"]) / comparison["pairs"]
    assert comparison["low"] <= base_s / (base_s + DELAY_MS / 1000) <= comparison["high"]
    assert comparison["evidence"]
