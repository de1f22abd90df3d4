"""Everything that a run can leave is found, by its kind, and removed."""

import subprocess
import sys
from pathlib import Path

# In its own process: what it does, taking namespaces and adopting orphans, no other test may see.
LEAVE = """
import ctypes, os, socket, subprocess, sys, time
from pathlib import Path
from torture.isolation import adopt_orphans, isolate
from torture.leftovers import below, snapshot, sweep, wait_for_the_end

folder = Path(sys.argv[1])
adopt_orphans()
isolated = isolate()
before = snapshot(folder, isolated)
assert not snapshot(folder, isolated).since(before)
# An orphan that listens, in its own session; and what outlives every process.
script = "import socket, time; s = socket.create_server(('127.0.0.1', 0)); print(flush=True); time.sleep(600)"
shell = f'{sys.executable} -c "{script}" &'
started = subprocess.Popen(["setsid", "sh", "-c", shell], stdout=subprocess.PIPE)
started.stdout.readline()
started.wait()
(folder / "data" / "dbdyno-x").mkdir()
if isolated:
    Path("/dev/shm/PostgreSQL.1").touch()
    subprocess.run(["ip", "netns", "add", "torture-left"], check=True)
    ctypes.CDLL(None).shmget(4711, 4096, 0o1600)
    ctypes.CDLL(None).semget(4711, 1, 0o1600)
found = snapshot(folder, isolated).since(before)
print(*sorted({one.kind for one in found}), sep=",")
sweep(folder, found)
after = snapshot(folder, isolated)
print(*after.since(before))
"""


def test_it_is_seen_and_swept(tmp_path):
    for name in ("data", "tmp"):
        (tmp_path / name).mkdir()
    ended = subprocess.run(
        [sys.executable, "-c", LEAVE, tmp_path],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(Path(__file__).parents[1])},
    )
    assert ended.returncode == 0, ended.stderr
    kinds, swept = ended.stdout.splitlines()
    always = {"directory", "process"}
    assert set(kinds.split(",")) in (
        always,
        always | {"port"},
        always | {"port", "System V sem", "System V shm", "shared memory", "network namespace"},
    )
    assert not swept
    assert not tmp_path.exists()
