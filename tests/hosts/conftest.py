"""Agents on this host, each with its own certificate; their load client is the fake one."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from dbdyno.hosts import trial
from dbdyno.hosts.certificates import Certificates, make_certificates
from dbdyno.hosts.crew import Member

HOSTS = ("c1", "c2", "s1", "s2")


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder that `dbdyno hosts init c1 c2 s1 s2` makes."""
    folder = tmp_path_factory.mktemp("certificates")
    make_certificates(folder, HOSTS)
    return folder


@pytest.fixture(autouse=True)
def hasty_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin at once: the fake load client does not wait for the common start."""
    monkeypatch.setattr(trial, "LEAD_S", 0.1)


@dataclass(frozen=True)
class Agent:
    """An agent that listens; records: where its load client's lie until they are collected."""

    member: Member
    process: subprocess.Popen[str]
    records: Path


@pytest.fixture
def start_agent(certificates: Path, tmp_path: Path, fake_load: Callable[..., None]) -> Iterator[Callable[..., Agent]]:
    """Return a function that starts the agent of a host; before: what its command begins with."""
    agents: list[Agent] = []
    # A faked clock is the agent's alone: Python cannot sleep with one.
    program = tmp_path / "load"
    program.write_text(f'#!/bin/sh\nunset LD_PRELOAD\nexec "{os.environ["DBDYNO_LOAD"]}" "$@"\n')
    program.chmod(0o755)

    def start(name: str, *before: str, host: str = "127.0.0.1", **environment: str) -> Agent:
        records = tmp_path / f"records-{name}"
        command = [sys.executable, "-P", "-m", "dbdyno.hosts.agent", "--host", host, "--folder", str(records)]
        command += ["--certificates", str(Certificates.of(certificates, name).folder)]
        command += ["--program", str(program), "--worker", str(os.getpid())]
        process = subprocess.Popen(
            [*before, *command], stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}
        )
        port = int(process.stdout.readline())
        agents.append(Agent(Member(name, name, host, port, 2), process, records))
        return agents[-1]

    yield start
    for agent in agents:
        agent.process.kill()
        agent.process.wait()
        agent.process.stdout.close()
