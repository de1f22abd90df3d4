"""The keeper of a server host, in this process; over its connection it is tested with `Elsewhere`."""

import io
import json
import sys
from pathlib import Path

import pytest

from dbdyno.errors import UserError
from dbdyno.hosts import keeper as keeper_module
from dbdyno.hosts.keeper import Keeper, Tails, serve
from dbdyno.hosts.launch_message import message_of_launch
from dbdyno.hosts.spec_message import message_of
from dbdyno.results.observations import LINES
from dbdyno.systems.base import Launch
from helpers import need, system


@pytest.fixture
def keeper(guard, tmp_path):
    keeper = Keeper("127.0.0.2", guard, tmp_path)
    yield keeper
    keeper.stop()


def start_of(**keys):
    """Return the message of a start."""
    return message_of_launch(Launch(None, Path(), 1, 100, **keys))


def make(text, number=0):
    return {"call": "make", "arguments": {"system": message_of(system(text).spec), "number": number}}


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


@pytest.mark.parametrize(
    ("text", "number"), [("sqlite", 0), ("handlersocket", 0), ("redis", 1), ("cache-aside(memcached, redis)", 2)]
)
def test_what_cannot_be_started_for_others_is_not_made(keeper, text, number):
    message = make(text, number)
    with pytest.raises(UserError, match=r"cannot be started for other hosts|not installed"):
        keeper.answer(message["call"], message["arguments"])
    assert keeper.death() is None


def test_a_part_of_an_arrangement_is_made_as_in_it(keeper):
    need("redis", "memcached")
    for number, name in enumerate(("memcached", "redis")):
        message = make("cache-aside(memcached, redis?appendonly=yes)", number)
        keeper.answer(message["call"], message["arguments"])
        assert keeper.system.server_name == name
    assert keeper.system.spec.settings == {"appendonly": "yes"}


def test_only_a_node_of_galera_joins_others(keeper):
    need("redis")
    message = make("redis")
    keeper.answer(message["call"], message["arguments"])
    with pytest.raises(UserError, match="joins no other servers"):
        keeper.answer("join", {"places": [], "password": "x"})


def test_only_a_pooler_stands_in_front_of_a_server(keeper):
    need("redis")
    message = make("redis")
    keeper.answer(message["call"], message["arguments"])
    with pytest.raises(UserError, match="stands in front of no server"):
        keeper.answer("serve", {"behind": {}, "launch": {}})


def test_a_place_has_ports_at_the_address_of_this_host(keeper):
    node = keeper.answer("find_place", {})
    assert node["address"] == "127.0.0.2" and len({node["group"], node["changes"], node["everything"]}) == 3


@pytest.mark.parametrize("cpus", [[0], None])
def test_the_processors_that_the_server_is_pinned_to_are_observed(keeper, tmp_path, cpus):
    need("redis")
    message = make("redis")
    keeper.answer(message["call"], message["arguments"])
    keeper.answer("start", {"launch": start_of(server_cpus=tuple(cpus) if cpus else None)})
    for call in ("observe", "watch", "unwatch"):
        keeper.answer(call, {})
    lines = (tmp_path / "observed-1" / LINES).read_text()
    assert ("host.server_cpus_work_s_total" in lines) is bool(cpus)


def test_a_call_that_is_refused_is_answered_and_the_next_one_too(keeper, monkeypatch):
    calls = [{"call": "restart", "arguments": {}}, {"call": "stop", "arguments": {}}]
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(json.dumps(call) + "\n" for call in calls)))
    monkeypatch.setattr(sys, "stdout", said := io.StringIO())
    serve(keeper)
    assert [json.loads(line) for line in said.getvalue().splitlines()] == [
        {"refused": "no system was started"},
        {"answer": None},
    ]
