"""A real private Valkey, which shares what Redis is tested for."""

import pytest

from dbdyno.systems.packages.catalogue import PACKAGES
from dbdyno.systems.redis import valkey
from helpers import need, system

VERSION = "valkey@9.1"


@pytest.mark.versions
def test_it_starts_says_its_own_version_and_is_gone_when_stopped(launch):
    need(VERSION)
    server = system(f"{VERSION}?appendonly=yes&appendfsync=always")
    try:
        server.start(launch)
        (server_document,) = server.servers()
        assert (server_document["name"], server_document["version"]) == ("valkey", PACKAGES[VERSION].release)
        assert server.durability().level == "D2"
        assert server.store_plan([])["kind"] == "redis"
        assert set(server.counters()) == set(server.server_pids()) == {"valkey"}
        directory = server._directory.path
    finally:
        server.stop()
    assert not directory.exists()


def test_what_is_missing_is_named_with_both_ways_to_it(monkeypatch):
    monkeypatch.setattr(valkey, "find_program", lambda name: None)
    assert "apt install valkey-server, or take valkey@9.1" in valkey.Valkey.missing()
    monkeypatch.setattr(valkey, "find_program", lambda name: f"/usr/bin/{name}")
    assert valkey.Valkey.missing() is None
