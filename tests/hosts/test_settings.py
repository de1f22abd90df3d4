"""How dask is set up; tests/hosts/test_crew.py looks at a scheduler that runs so."""

import subprocess
import sys

import dask
import pytest
from distributed.comm import listen

from dbdyno.errors import UserError
from dbdyno.hosts.certificates import Certificates
from dbdyno.hosts.settings import SETTINGS, need_dask, security_of


@pytest.mark.parametrize("key", SETTINGS)
def test_every_setting_is_one_that_this_dask_knows(key):
    assert dask.config.get(key, default="unknown") != "unknown"


def test_nothing_is_stolen_repeated_or_unencrypted():
    with dask.config.set(SETTINGS):
        assert dask.config.get("distributed.scheduler.work-stealing") is False
        assert dask.config.get("distributed.scheduler.allowed-failures") == 0
        assert dask.config.get("distributed.comm.require-encryption") is True


def test_a_host_listens_to_tls_only(certificates):
    security = security_of(Certificates.of(certificates, "c1"))
    arguments = security.get_listen_args("worker")
    assert arguments["ssl_context"] is not None and arguments["require_encryption"] is True
    with pytest.raises(RuntimeError, match="encryption"):
        listen("tcp://127.0.0.1:0", lambda comm: None, **arguments)


def test_without_dask_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UserError, match=r"pip install 'dbdyno\[hosts\]'"):
        need_dask()


def test_without_hosts_dask_is_not_imported():
    ask = "import sys, dbdyno.cli.run, dbdyno.cli.worker, dbdyno.cli.hosts_init; print(*sys.modules)"
    said = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True).stdout.split()
    assert "dbdyno.conduct.run" in said and not {"dask", "distributed"} & set(said)
