"""The hosts of a run as the conductor sees them: real workers join over loopback."""

import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
from pathlib import Path

import pytest

from dbdyno.errors import RunFailed, UserError
from dbdyno.experiment.hosts import Hosts, host_and_port
from dbdyno.hosts.certificates import Certificates, make_certificates
from dbdyno.hosts.crew import Crew
from dbdyno.systems.running.ports import free_port
from helpers import wait_until


def never() -> bool:
    return False


@pytest.fixture
def hosts(certificates):
    """Return a function that makes the table [hosts] of a conductor on loopback."""
    port = free_port()

    def make(*names, **keys):
        keys = {"wait_seconds": 60, "certificates": str(certificates)} | keys
        return Hosts(address=f"tls://127.0.0.1:{port}", client=list(names), **keys)

    return make


@pytest.fixture
def start_worker(certificates, tmp_path, fake_load):
    """Return a function that runs `dbdyno worker`, and kills those that it started.

    A signal that can be handled ends one that looks for a run only after the seconds in which it tries to join.
    """
    workers = []

    def start(hosts, name, folder=certificates, program=None, role="client"):
        command = [sys.executable, "-P", "-m", "dbdyno", "worker", hosts.address, "--name", name, "--role", role]
        command += ["--certificates", str(folder)]
        environment = {**os.environ, "DBDYNO_STATE_DIR": str(tmp_path / f"state-{name}")}
        environment |= {"DBDYNO_LOAD": str(program)} if program else {}
        out = (tmp_path / f"{name}.log").open("w")
        workers.append(subprocess.Popen(command, stdout=out, stderr=out, env=environment))
        return workers[-1]

    yield start
    for worker in workers:
        worker.kill()
    for worker in workers:
        worker.wait()


def crew_of(hosts) -> Crew:
    return Crew(hosts, Path(os.environ["DBDYNO_LOAD"]))


def test_workers_join_and_are_known_by_name_and_join_the_next_run_too(hosts, start_worker, tmp_path):
    table = hosts("c2", "c1")
    for name in ("c1", "c2"):
        start_worker(table, name)
    for _ in range(2):
        with crew_of(table) as crew:
            members = crew.wait(never)
            assert [member.name for member in members] == ["c2", "c1"]
            assert all(member.port and member.processors for member in members)
            # Nothing that a scheduler is given could be run twice, stolen or kept after its worker fell silent.
            scheduler = crew._cluster.scheduler
            assert (scheduler.allowed_failures, scheduler.worker_ttl) == (0, 10)
            assert not scheduler.tasks


def test_a_signal_ends_a_worker_that_has_joined(hosts, start_worker):
    table = hosts("c1")
    worker = start_worker(table, "c1")
    with crew_of(table) as crew:
        crew.wait(never)
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(timeout=60) == 0
        wait_until(lambda: not crew._members())


def test_a_worker_that_is_killed_is_missed_and_one_that_comes_back_is_taken(hosts, start_worker):
    table = hosts("c1", "c2", wait_seconds=60)
    first = start_worker(table, "c1")
    start_worker(table, "c2")
    with crew_of(table) as crew:
        crew.wait(never)
        first.kill()
        wait_until(lambda: "c1" not in crew._members())
        start_worker(table, "c1")
        assert [member.name for member in crew.ready(never)] == ["c1", "c2"]


def test_the_next_trial_goes_on_without_a_lost_host_if_the_experiment_says_so(hosts, start_worker):
    table = hosts("c1", "c2", if_lost="go on", wait_seconds=60)
    start_worker(table, "c2")
    with crew_of(table) as crew:
        crew.lost.add("c1")
        assert [member.name for member in crew.ready(never)] == ["c2"]
        crew.lost.add("c2")
        with pytest.raises(RunFailed, match="every client host was lost"):
            crew.ready(never)


def test_a_host_that_does_not_come_is_named_with_its_command(hosts, fake_load):
    table = hosts("c1", wait_seconds=1)
    with crew_of(table) as crew:
        with pytest.raises(UserError, match=rf"c1 did not join within 1 s; run there: dbdyno worker {table.address}"):
            crew.wait(never)
        with pytest.raises(RunFailed, match="c1 did not come back within 1 s"):
            crew.ready(never)


def test_the_server_host_joins_in_its_role_and_says_what_it_can(hosts, start_worker):
    table = hosts("c1", server="s1")
    start_worker(table, "c1")
    start_worker(table, "s1", role="server")
    with crew_of(table) as crew:
        members = crew.wait(never)
        assert [(member.name, member.role) for member in members] == [("c1", "client"), ("s1", "server")]
        assert all(member.ports > 1000 and member.memory_bytes > 1 << 20 for member in members)
        assert crew.server("s1", never) == members[1]
        assert [member.name for member in crew.ready(never)] == ["c1"]


def test_a_host_in_another_role_is_refused(hosts, start_worker):
    table = hosts("c1", server="s1")
    start_worker(table, "s1")
    with crew_of(table) as crew, pytest.raises(UserError, match=r"hosts.server: s1 was started with --role client"):
        crew.wait(never)


def test_a_server_host_that_does_not_come_is_named_with_its_command(hosts, start_worker):
    table = hosts("c1", server="s1", wait_seconds=1)
    with crew_of(table) as crew, pytest.raises(UserError, match="did not join"):
        crew.wait(never)
    with crew_of(table) as crew, pytest.raises(RunFailed, match="s1 did not come back within 1 s"):
        crew.server("s1", never)


def test_a_person_need_not_wait(hosts, fake_load):
    with crew_of(hosts("c1")) as crew, pytest.raises(KeyboardInterrupt):
        crew.wait(lambda: True)


def test_another_load_client_is_refused_before_anything_starts(hosts, start_worker, tmp_path):
    other = tmp_path / "other"
    shutil.copy(os.environ["DBDYNO_LOAD"], other)
    with other.open("a") as file:
        file.write("# another\n")
    table = hosts("c1")
    start_worker(table, "c1", program=other)
    with crew_of(table) as crew, pytest.raises(UserError, match="c1 has dbdyno-load"):
        crew.wait(never)


def ask(table, context):
    """Connect to the conductor's scheduler; with TLS 1.3 it refuses a certificate at the first read."""
    with socket.create_connection(host_and_port(table.address), 30) as plain, context.wrap_socket(plain) as connection:
        return connection.read()


def test_nobody_of_another_authority_gets_a_word_in(hosts, fake_load, tmp_path):
    make_certificates(tmp_path / "others", ["c1"])
    table = hosts("c1")
    others = Certificates.of(tmp_path / "others", "c1").context(ssl.Purpose.SERVER_AUTH)
    with crew_of(table), pytest.raises(ssl.SSLError):
        ask(table, others)


def test_who_shows_no_certificate_is_not_listened_to(hosts, certificates, fake_load):
    table = hosts("c1")
    nobody = ssl.create_default_context(cafile=str(certificates / "ca.pem"))
    nobody.check_hostname = False
    with crew_of(table), pytest.raises(ssl.SSLError):
        ask(table, nobody)


def test_an_address_of_another_host_is_refused(certificates, fake_load):
    table = Hosts(address="tls://192.0.2.1:8786", client=["c1"], certificates=str(certificates))
    with pytest.raises(UserError, match="cannot listen at"), crew_of(table):
        pass


def test_without_certificates_the_command_is_said(tmp_path, fake_load):
    table = Hosts(address="tls://127.0.0.1:8786", client=["c1"], certificates=str(tmp_path))
    with pytest.raises(UserError, match="dbdyno hosts init"):
        crew_of(table)
