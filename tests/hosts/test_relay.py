"""A keeper ends with its conductor, with its agent, and if a signal stops it."""

import os
import signal
import ssl

import psutil
import pytest

from dbdyno.hosts import relay
from dbdyno.hosts.certificates import Certificates
from dbdyno.hosts.line import Line
from dbdyno.leftovers.processes import start_time
from helpers import wait_until


@pytest.fixture
def line(start_agent, certificates):
    conductor = Certificates.of(certificates, "conductor").context(ssl.Purpose.SERVER_AUTH)
    agent = start_agent("s1")
    line = Line(agent.member, conductor, lambda message: None)
    line.agent = agent
    # It answers, so it is there.
    line.call("describe", systems=[], memory_limit_bytes=None)
    yield line
    line.close()


def keeper_of(line) -> int:
    children = psutil.Process(line.agent.process.pid).children(recursive=True)
    (keeper,) = [child.pid for child in children if "dbdyno.hosts.keeper" in child.cmdline()]
    return keeper


def test_a_conductor_that_leaves_ends_the_keeper(line):
    pid = keeper_of(line)
    line.close()
    assert start_time(pid) is None


def test_a_keeper_that_stands_still_is_given_up(line):
    assert relay.STOPPED_S < 20
    pid = keeper_of(line)
    os.kill(pid, signal.SIGSTOP)
    assert wait_until(lambda: start_time(pid) is None)
    assert wait_until(lambda: line.lost)


def test_an_agent_that_is_killed_takes_the_keeper_along(line):
    pid = keeper_of(line)
    line.agent.process.kill()
    assert wait_until(lambda: start_time(pid) is None)
    assert wait_until(lambda: line.lost).startswith("lost: ")
