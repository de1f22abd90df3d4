"""`dbdyno run` on somebody else's server, as a person has it, also killed in its middle."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from dbdyno.experiment.redact import redact
from dbdyno.leftovers.processes import start_time
from helpers import wait_until

FOR_EVER, FOR_A_SECOND = "600", "1"
BEGIN_TIMEOUT_S = 120.0
"""On a busy host a run of Cassandra takes half a minute until it reads rows."""


def begin(url, workload, rows, folder, seconds=FOR_EVER, more=()):
    """Start a run; returns its process."""
    command = ["run", workload, "--system", redact(url), "--rows", str(rows), "--seconds", seconds, "--warmup", "0"]
    alone = ["--clients", "1", "--set", "host=false", "--set", "ceiling=false", "--no-observe", "--quiet"]
    return subprocess.Popen(
        [sys.executable, "-m", "dbdyno", *command, *alone, "--out", str(folder), *more],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "python"), **_password_of(url)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def _password_of(url):
    """Return the environment with the URL's password, which a command line must not have."""
    password = re.search(r"://[^:/@]*:([^@]*)@", url)
    return {"DBDYNO_PASSWORD": password[1]} if password else {}


def run(url, workload, rows, folder, more=()):
    """Run to the end; returns the exit status and what was said on stderr."""
    process = begin(url, workload, rows, folder, FOR_A_SECOND, more)
    _, err = process.communicate()
    return process.returncode, err


def run_and_kill(url, workload, rows, folder):
    """Kill a run with SIGKILL when it reads its rows, and return when its load client is gone."""
    process = begin(url, workload, rows, folder)

    def measured():
        records = list(folder.glob("*/trials/001-*/records.jsonl"))
        assert process.poll() is None, process.stderr.read()
        return [path for path in records if '"interval"' in path.read_text()]

    try:
        (records,) = wait_until(measured, BEGIN_TIMEOUT_S)
        pid = json.loads(records.read_text().splitlines()[0])["pid"]
    finally:
        kill(process)
    wait_until(lambda: not start_time(pid))


def kill(process):
    """Kill a process with SIGKILL."""
    process.kill()
    process.wait()
    process.stderr.close()
