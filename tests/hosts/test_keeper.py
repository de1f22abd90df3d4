"""The keeper of a server host, in this process; over its connection it is tested with `Elsewhere`."""

import io
import json
import sys

import pytest

from dbdyno.errors import UserError
from dbdyno.hosts import keeper as keeper_module
from dbdyno.hosts.keeper import Keeper, Tails, serve


@pytest.fixture
def keeper(guard, tmp_path):
    keeper = Keeper("127.0.0.2", guard, tmp_path)
    yield keeper
    keeper.stop()


def start(name, **keys):
    launch = {"clients": 8, "rows": 10, "memory_limit_bytes": None, "answer_timeout_s": 10.0, "server_cpus": None}
    system = {"name": name, "version": "", "settings": {}, "label": name}
    return {"call": "start", "arguments": {"system": system, "launch": launch | keys}}


def test_whole_lines_are_told_once(tmp_path):
    tails, path = Tails(), tmp_path / "log"
    tails.follow(path, "server-x.log")
    assert tails.grown() == []
    path.write_text("one\ntwo\nthr")
    assert tails.grown() == [{"file": "server-x.log", "text": "one\ntwo\n"}]
    assert tails.grown() == []
    with path.open("a") as file:
        file.write("ee\n")
    assert tails.grown() == [{"file": "server-x.log", "text": "three\n"}]


def test_a_line_that_is_too_long_is_cut(tmp_path, monkeypatch):
    monkeypatch.setattr(keeper_module, "MOST_BYTES", 4)
    tails, path = Tails(), tmp_path / "log"
    tails.follow(path, "server-x.log")
    path.write_text("abcdefg\n")
    assert [tails.grown()[0]["text"] for _ in range(2)] == ["abcd", "efg\n"]


def test_what_is_for_this_host_alone_is_not_started(keeper):
    for name in ("sqlite", "handlersocket"):
        message = start(name)
        with pytest.raises(UserError, match=r"cannot be started for other hosts|not installed"):
            keeper.answer(message["call"], message["arguments"])
    assert keeper.death() is None


def test_a_call_that_is_refused_is_answered_and_the_next_one_too(keeper, monkeypatch):
    calls = [{"call": "restart", "arguments": {}}, {"call": "stop", "arguments": {}}]
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(json.dumps(call) + "\n" for call in calls)))
    monkeypatch.setattr(sys, "stdout", said := io.StringIO())
    serve(keeper)
    assert [json.loads(line) for line in said.getvalue().splitlines()] == [
        {"refused": "no system was started"},
        {"answer": None},
    ]
