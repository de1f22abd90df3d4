"""A worker's way to the conductor; tests/hosts/test_crew.py has workers that join."""

import asyncio
import os
import signal
from dataclasses import replace

import pytest

from dbdyno.errors import RunFailed
from dbdyno.hosts.certificates import Certificates
from dbdyno.hosts.limits import own_limits
from dbdyno.hosts.worker import LOOK_S, STOPPED_S, Post, _AgentProcess, _join, about, own_address


def test_a_worker_listens_where_the_conductor_sees_it():
    assert own_address("tls://127.0.0.1:8786") == "127.0.0.1"


def test_a_conductor_whose_name_is_not_known_can_be_waited_for():
    assert own_address("tls://no-such-host.invalid:8786") is None


@pytest.fixture
def post(certificates, tmp_path):
    return Post("tls://127.0.0.1:1", "c1", "client", Certificates.of(certificates, "c1"), tmp_path / "none", tmp_path)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_an_agent_that_is_killed_or_stopped_is_not_well(post, number):
    with _AgentProcess(post, "127.0.0.1") as agent:
        assert agent.port and agent.is_well()
        os.kill(agent._process.pid, number)
        os.waitid(os.P_PID, agent._process.pid, os.WEXITED | os.WSTOPPED | os.WNOWAIT)
        looks = [agent.is_well() for _ in range(int(STOPPED_S / LOOK_S) + 1)]
        assert looks[-1] is False


def test_each_source_address_has_its_own_ports(post):
    post.program.touch()
    two = replace(post, source_addresses=("127.0.0.7", "127.0.0.8"))
    ports = [about(some, "127.0.0.1", 1)["ports"] for some in (post, two)]
    assert ports == [own_limits().ports, 2 * own_limits().ports]


def test_an_agent_that_cannot_listen_is_said(post):
    with pytest.raises(RunFailed, match="did not listen at 192"):
        _AgentProcess(post, "192.0.2.1")


def test_a_signal_ends_a_worker_that_looks_for_a_run(post, monkeypatch):
    monkeypatch.setattr("dbdyno.hosts.worker.JOIN_S", 3600)
    post.program.touch()

    async def ends() -> None:
        ending = asyncio.Event()
        # A server that accepts and says nothing: the worker is joining, and goes on with that.
        async with await asyncio.start_server(lambda *_: ending.set(), "127.0.0.1", 0) as server:
            silent = replace(post, address=f"tls://127.0.0.1:{server.sockets[0].getsockname()[1]}")
            with _AgentProcess(post, "127.0.0.1") as agent:
                joining = asyncio.ensure_future(_join(silent, "127.0.0.1", agent, ending))
                joined, _ = await asyncio.wait([joining], timeout=60)
                joining.cancel()
            assert joined and ending.is_set()

    asyncio.run(ends())
