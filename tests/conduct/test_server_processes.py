"""The processes of attached servers: found by their address, or named in the URL."""

import os

import pytest

from dbdyno.conduct.server_processes import refuse_other_processes, server_processes
from dbdyno.errors import UserError
from helpers import need, system


@pytest.fixture
def redis(launch):
    """A private Redis, and the URL by which it is attached to."""
    need("redis")
    private = system("redis")
    private.start(launch)
    yield private, f"redis://:{private.endpoint.password}@127.0.0.1:{private.endpoint.port}/0"
    private.stop()


def test_an_attached_server_is_found_by_its_port_and_may_be_named(redis):
    private, url = redis
    expected = private.server_pids()
    assert server_processes(private) == expected
    assert server_processes(system(url)) == expected
    named = system(f"{url}?pid={expected['redis']}")
    refuse_other_processes(named)
    assert server_processes(named) == expected


def test_another_process_is_refused(redis):
    _, url = redis
    for pid, said in ((os.getpid(), "does not listen at 127.0.0.1:"), (2**22 + 1, "there is no such process")):
        with pytest.raises(UserError, match=said):
            refuse_other_processes(system(f"{url}?pid={pid}"))
    with pytest.raises(UserError, match=r"cache-aside.*: pid=.*no such process"):
        refuse_other_processes(system(f"cache-aside({url}?pid={2**22 + 1}, mariadb)"))
