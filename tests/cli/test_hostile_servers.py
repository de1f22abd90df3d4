"""Servers that misbehave: dbdyno ends in time, in little memory, and says what came instead."""

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from bounded import run_bounded
from fakes import hostile

OPERATION_TIMEOUT_S, GRACE_S = 10, 5
START_S = 60
"""Interpreters start slowly on a busy host; nothing of it is the server's doing."""
MOST_BYTES = 300 << 20
AT_ONCE = 3


def url_of(scheme, port):
    return f"{scheme}://127.0.0.1:{port}" + ("" if scheme in ("redis", "memcached") else "/d")


def dbdyno(command, behaviour, scheme, folder):
    with hostile.server(behaviour) as port:
        url = url_of(scheme, port)
        options = ["point-get", "--seconds", "1", "--rows", "10", "--clients", "1", "--set", "host=false", "--system"]
        return run_bounded(
            [sys.executable, "-m", "dbdyno", command, *(options if command == "run" else []), url],
            kill_after_s=120,
            cwd=folder,
        )


def check(name, ended):
    assert ended.status in (1, 2), (name, ended)
    assert ended.seconds < OPERATION_TIMEOUT_S + GRACE_S + START_S, (name, ended)
    assert ended.peak_bytes < MOST_BYTES, (name, ended)
    assert "Traceback" not in ended.said, (name, ended)
    said = ended.said.strip().splitlines()[-1]
    assert said.startswith("dbdyno: ") and not said.endswith(": ") and len(said) > 40, (name, ended)
    assert said.isprintable(), (name, ended)


@pytest.mark.systems
@pytest.mark.parametrize("scheme", hostile.OF_PROTOCOL)
def test_whatever_a_server_of_a_protocol_does_is_bounded_and_told(scheme, tmp_path):
    behaviours = {**hostile.ANYWHERE, **hostile.OF_PROTOCOL[scheme]}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        ended = pool.map(lambda behaviour: dbdyno("run", behaviour, scheme, tmp_path), behaviours.values())
        for name, run_ended in zip(behaviours, ended, strict=True):
            check(name, run_ended)


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        (hostile.http, "answers HTTP, not MySQL: check the port"),
        (hostile.ssh, "answers SSH, not MySQL: check the port"),
        (hostile.silent, "accepts the connection and sends nothing"),
        (hostile.closes, "closes the connection without speaking MySQL"),
        (hostile.asks_for_the_password, "asks for the password in clear text, and dbdyno does not send it"),
        (hostile.OF_PROTOCOL["mysql"]["half a greeting"], "begins to speak MySQL, then breaks the protocol"),
    ],
)
@pytest.mark.parametrize("command", ["run", "clean"])
def test_it_is_said_what_came_instead(command, behaviour, words, tmp_path):
    ended = dbdyno(command, behaviour, "mysql", tmp_path)
    check(words, ended)
    assert words in ended.said


@pytest.mark.parametrize("command", ["run", "clean"])
@pytest.mark.parametrize("behaviour", [hostile.NESTED_TYPES, hostile.NESTED_TYPE_NAMES])
def test_types_that_nest_too_deeply_for_a_library_are_told(behaviour, command, tmp_path):
    ended = dbdyno(command, behaviour, "cassandra", tmp_path)
    check("nested types", ended)
    words = "begins to speak CQL, then breaks the protocol: the type of a column nests more than 100 deep"
    assert words in " ".join(ended.said.split())
