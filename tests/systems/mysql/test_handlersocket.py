"""A real private MariaDB with HandlerSocket: its two ports, which nobody enters without the secret."""

import os
import signal
import socket
from pathlib import Path

import psutil
import pytest

from dbdyno.errors import UserError
from dbdyno.systems.mysql import handlersocket
from dbdyno.systems.mysql.mariadb import MariaDB
from helpers import system, wait_until
from systems.load import begin, end, execute, plan_of


def ask(address, request):
    with socket.create_connection((address["host"], address["port"])) as connection:
        connection.sendall(request)
        return connection.recv(100)


def test_both_ports_want_the_secret_which_no_process_list_shows(started):
    server = started("handlersocket?handlersocket_threads=2")
    secrets = []
    plan = server.store_plan(secrets)
    secret = secrets[plan["password"]["secret"]]
    for port in ("address", "write_address"):
        assert ask(plan[port], b"P\t1\tdbdyno\tt\tPRIMARY\tid\n") == b"3\t1\tunauth\n"
        assert ask(plan[port], f"A\t1\t{secret}\n".encode()) == b"0\t1\n"
    (pid,) = server.server_pids().values()
    assert secret not in Path(f"/proc/{pid}/cmdline").read_text()
    (server_document,) = server.servers()
    assert server_document["effective_settings"]["handlersocket_threads"] == "2"
    assert secret not in str(server_document) and server.durability().level == "D2"


@pytest.mark.parametrize(
    ("workload", "more"), [("batch-get", {}), ("insert-indexes", {}), ("point-get", {"pipeline": 8})]
)
def test_rows_are_read_and_written_in_every_way_it_has(started, workload, more):
    server = started("handlersocket?innodb_flush_log_at_trx_commit=0")
    done = execute(server, workload, ["prepare", "load", "run", "verify", "cleanup"], **more)
    (total,) = done.of("total")
    assert done.status == 0 and total["transactions"]["completed"] > 0 and total["transactions"]["failed"] == 0
    assert total["reads_verified"] > 0 or workload == "insert-indexes"
    assert all(check["ok"] for check in done.of("check"))


def test_a_table_is_made_anew_right_after_a_client_that_had_it_open_has_gone(started):
    server = started("handlersocket")
    assert execute(server, "insert-indexes", ["prepare"]).status == 0
    secrets = []
    plan = server.store_plan(secrets)
    port, secret = plan["write_address"]["port"], secrets[plan["password"]["secret"]]
    (pid,) = server.server_pids().values()
    with socket.create_connection(("127.0.0.1", port)) as client:
        for request in (f"A\t1\t{secret}\n", "P\t1\tdbdyno\tdbdyno_inserted\tPRIMARY\tid\n"):
            client.sendall(request.encode())
            assert client.recv(100) == b"0\t1\n"
        # The server finds the next one waiting at the moment that it sees this one go.
        os.kill(pid, signal.SIGSTOP)
        process = begin(server, plan_of(None, "insert-indexes", ["prepare"], operation_timeout_s=20))
        connections = psutil.Process(process.pid).net_connections
        wait_until(lambda: any(connection.raddr and connection.raddr.port == port for connection in connections("tcp")))
    os.kill(pid, signal.SIGCONT)
    done = end(process)
    assert done.status == 0, done.of("end")


def test_it_has_no_unix_socket():
    with pytest.raises(UserError, match="over TCP alone"):
        system("handlersocket?connect=socket")


def test_it_is_missing_where_the_plugin_is(monkeypatch, tmp_path):
    monkeypatch.setattr(MariaDB, "missing", classmethod(lambda cls: None))
    monkeypatch.setattr(handlersocket, "PLUGIN_FOLDERS", (str(tmp_path),))
    assert "apt install mariadb-server" in handlersocket.HandlerSocket.missing()
    (tmp_path / handlersocket.PLUGIN).touch()
    assert handlersocket.HandlerSocket.missing() is None
