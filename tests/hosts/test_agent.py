"""An agent, seen from its connection: whom it serves, and what ends the load."""

import asyncio
import os
import signal
import ssl
import subprocess
import sys

import pytest

from dbdyno.hosts.certificates import Certificates, make_certificates
from dbdyno.hosts.channel import Lost, connect
from dbdyno.leftovers.processes import start_time
from helpers import wait_until

RUN = {
    "say": "run",
    "trial": "../../run-1",
    "secrets": [],
    "plan": {"phases": ["run", "verify"], "workload": {"rows": 1}, "arrivals": None, "warmup_s": 0, "duration_s": 1}
    | {"clients": {"first": 0, "count": 1, "of": 1}},
}


def talk(agent, context, here):
    async def both():
        channel = await connect("127.0.0.1", agent.member.port, context, agent.member.name)
        try:
            return await here(channel)
        finally:
            await channel.close()

    return asyncio.run(both())


@pytest.fixture
def conductor(certificates):
    return Certificates.of(certificates, "conductor").context(ssl.Purpose.SERVER_AUTH)


async def first_live(channel):
    """Have it run, and return the process of the load client once it runs its second."""
    await channel.send(RUN)
    pid = None
    while True:
        live = (await channel.receive()).get("live", {})
        pid = live.get("pid", pid)
        if live.get("record") == "interval":
            return pid


def test_records_stay_below_the_agents_folder_whatever_a_trial_is_called(start_agent, conductor):
    agent = start_agent("c1")

    async def here(channel):
        await channel.send(RUN)
        while "ended" not in (message := await channel.receive()):
            continue
        return message

    assert talk(agent, conductor, here) == {"ended": 0}
    assert [path.name for path in agent.records.iterdir()] == ["_.._run-1"]


def test_a_conductor_that_is_gone_ends_the_load(start_agent, conductor, fake_load, tmp_path):
    fake_load(await_file=str(tmp_path / "never"))
    agent = start_agent("c1")
    pid = talk(agent, conductor, first_live)
    assert wait_until(lambda: start_time(pid) is None)
    # Its records are kept for whoever comes back.
    assert (agent.records / "_.._run-1" / "records.jsonl").read_text().startswith('{"record": "hello"')


def test_a_host_that_is_not_the_conductor_is_not_served(start_agent, certificates):
    async def here(channel):
        await channel.send(RUN)
        await channel.receive()

    agent = start_agent("c1")
    # The agent may hang up before it is sent anything, or after.
    with pytest.raises(Lost):
        talk(agent, Certificates.of(certificates, "c2").context(ssl.Purpose.SERVER_AUTH), here)
    assert not agent.records.exists()


def test_a_conductor_of_another_authority_is_not_served(start_agent, tmp_path):
    make_certificates(tmp_path / "others", ["c1"])
    others = Certificates.of(tmp_path / "others", "conductor").context(ssl.Purpose.SERVER_AUTH)
    with pytest.raises(Lost, match="certificate"):
        talk(start_agent("c1"), others, first_live)


def test_without_its_worker_an_agent_ends(certificates, tmp_path):
    command = [sys.executable, "-P", "-m", "dbdyno.hosts.agent", "--host", "127.0.0.1", "--folder", str(tmp_path)]
    command += ["--certificates", str(certificates / "c1"), "--program", "/bin/true"]
    script = '"$@" --worker $$ & echo $!; wait'
    worker = subprocess.Popen(["sh", "-c", script, "sh", *command], stdout=subprocess.PIPE, text=True)
    pid, port = (int(worker.stdout.readline()) for _ in range(2))
    assert start_time(pid) and port
    os.kill(worker.pid, signal.SIGKILL)
    worker.wait()
    worker.stdout.close()
    assert wait_until(lambda: start_time(pid) is None)
