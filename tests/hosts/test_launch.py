"""Workers started by another program: the lines of docs/launch-workers.md for SSH, word for word."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dbdyno.results.read import read_trial
from helpers import need, wait_until
from hosts.namespaces import CONDUCTOR, Hosts, need_namespaces

pytestmark = pytest.mark.timeout(600)

PAGE = Path(__file__).parents[2] / "docs" / "launch-workers.md"
DBDYNO = (sys.executable, "-P", "-m", "dbdyno")
# Whoever logs in on the host gets a home of the test's, and nothing of this machine's.
SERVE = """
set -e
mount -t tmpfs tmpfs /run
mkdir /run/sshd
mount --bind "$1/passwd" /etc/passwd
exec "$2" -D -e -f "$1/sshd_config"
"""


def lines_of(section):
    """Return the commands of a section of the page."""
    text = PAGE.read_text()
    return re.search(rf"^## {section}\n.*?```\n(.*?)```", text, re.DOTALL | re.MULTILINE)[1].splitlines()


@pytest.fixture
def hosts():
    need_namespaces()
    need("redis")
    # It is on root's PATH only.
    if not shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin"):
        pytest.skip("no sshd: apt-get install openssh-server")
    with Hosts(["c1"]) as hosts:
        yield hosts


@pytest.fixture
def homes(tmp_path):
    """Make a home for the conductor and for c1, each with what SSH needs, and return both."""
    conductor, there = tmp_path / "conductor", tmp_path / "c1"
    for home in (conductor, there):
        (home / ".ssh").mkdir(parents=True, mode=0o700)
    for key in (conductor / "key", there / "host_key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    (there / ".ssh" / "authorized_keys").write_text((conductor / "key.pub").read_text())
    (there / "passwd").write_text(
        re.sub(r"^root:.*$", f"root:x:0:0:root:{there}:/bin/sh", Path("/etc/passwd").read_text(), flags=re.MULTILINE)
    )
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    (there / "sshd_config").write_text(
        f"ListenAddress 10.0.0.2\nHostKey {there}/host_key\nPidFile none\nStrictModes no\nPermitRootLogin yes\n"
        f"PasswordAuthentication no\nUsePAM no\nSubsystem sftp internal-sftp\nSetEnv PATH={path}\n"
    )
    (conductor / "config").write_text(
        f"Host c1\nHostName 10.0.0.2\nUser root\nIdentityFile {conductor}/key\nIdentitiesOnly yes\n"
        "StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\nLogLevel ERROR\n"
    )
    for program in ("ssh", "scp"):
        script = conductor / program
        script.write_text(f'#!/bin/sh\nexec {shutil.which(program)} -F {conductor}/config "$@"\n')
        script.chmod(0o755)
    return conductor, there


def test_the_lines_for_ssh_start_a_worker_that_ends_with_the_connection(hosts, homes, tmp_path):
    conductor, there = homes
    environment = {**os.environ, "HOME": str(conductor), "PATH": f"{conductor}:{os.environ['PATH']}"}
    environment.pop("XDG_DATA_HOME", None)
    sshd = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")
    with (tmp_path / "sshd.log").open("w") as log:
        server = ["unshare", "--mount", "sh", "-c", SERVE, "sh", str(there), sshd]
        hosts.start("c1", *server, stdout=log, stderr=log)
        wait_until(lambda: "Server listening" in (tmp_path / "sshd.log").read_text())
    subprocess.run([*DBDYNO, "hosts", "init", "c1"], env=environment, check=True, capture_output=True)

    *copying, starting = lines_of("SSH")
    for line in copying:
        assert hosts.start(CONDUCTOR, "sh", "-c", line, env=environment).wait(timeout=60) == 0, line
    with (tmp_path / "worker.log").open("w") as log:
        worker = hosts.start(CONDUCTOR, "sh", "-c", f"exec {starting}", stdout=log, stderr=log, env=environment)

    address = hosts.addresses[CONDUCTOR]
    (tmp_path / "hosts.toml").write_text(f'address = "tls://{address}:8786"\nclient = "c1"\nwait_seconds = 120\n')
    redis = ["redis-server", "--bind", address, "--port", "6379", "--save", "", "--protected-mode", "no"]
    hosts.start(CONDUCTOR, *redis, stdout=subprocess.DEVNULL)
    run = [*DBDYNO, "run", "point-get", "--hosts", str(tmp_path / "hosts.toml"), "--system", f"redis://{address}:6379"]
    run += ["--rows", "100", "--clients", "2", "--seconds", "1", "--warmup", "0", "--set", "host=false"]
    run += ["--out", str(tmp_path / "runs")]
    running = hosts.start(CONDUCTOR, *run, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment)
    said = running.communicate(timeout=300)[0].decode()
    assert running.returncode == 0, said + (tmp_path / "worker.log").read_text()
    (folder,) = tmp_path.glob("runs/*/trials/*")
    trial = read_trial(folder)
    assert [(host["name"], host["problem"]) for host in trial.facts.hosts] == [("c1", None)]

    def on_host():
        pids = subprocess.run(["ip", "netns", "pids", hosts.space("c1")], check=True, capture_output=True, text=True)
        commands = [Path("/proc", pid, "cmdline") for pid in pids.stdout.split()]
        return [command for file in commands if (command := read(file)) and "worker" in command]

    assert on_host()
    worker.terminate()
    wait_until(lambda: not on_host())


def read(file):
    """Return the command of a process, or nothing if it is gone."""
    try:
        return file.read_text().replace("\0", " ")
    except (FileNotFoundError, ProcessLookupError):
        return ""
