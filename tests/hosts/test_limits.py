"""Bounds of the number of clients on this host."""

import resource

import pytest

from dbdyno.hosts import limits
from dbdyno.hosts.limits import is_own, own_limits


def test_the_kernels_limits_are_told(tmp_path, monkeypatch):
    ports = tmp_path / "ip_local_port_range"
    ports.write_text("32768\t60999\n")
    monkeypatch.setattr(limits, "PORT_RANGE", ports)
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (1024, 4096))
    assert (own_limits().ports, own_limits().open_files) == (28232, 4096)
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (1024, resource.RLIM_INFINITY))
    assert own_limits().open_files is None


def test_this_host_has_ports_and_memory():
    assert own_limits().ports > 0 and own_limits().memory_bytes > 1 << 20


def test_an_address_is_this_hosts_or_not():
    assert is_own("127.0.0.9") and not is_own("192.0.2.7")
    with pytest.raises(ValueError, match=r"c1\.lan"):
        is_own("c1.lan")
