"""A real private memcached, and the same attached to by its URL."""

import pytest
from pymemcache.client.base import Client

from dbdyno.errors import UserError
from dbdyno.systems.base import Launch
from helpers import system
from systems.load import rows_read


def test_it_starts_with_its_settings_and_counts(started):
    server = started("memcached?memory=100&threads=2")
    (server_document,) = server.servers()
    assert (
        server_document["effective_settings"]["maxbytes"],
        server_document["effective_settings"]["num_threads"],
    ) == (
        str(100 << 20),
        "2",
    )
    assert server.durability().level == "D0"
    client = Client(("127.0.0.1", server.store_plan([])["address"]["port"]))
    for _ in range(10):
        client.get("nothing")
    client.close()
    assert server.counters()["memcached"]["get_misses"] == 10


def test_alone_it_has_room_for_every_row_and_forgets_none(started, guard, tmp_path):
    server = started("memcached", Launch(guard, tmp_path, clients=2000, rows=100_000))
    effective = server.servers()[0]["effective_settings"]
    assert int(effective["maxbytes"]) >= 100_000 * 32_000 and effective["evictions"] == "off"
    assert int(effective["maxconns"]) >= 2000


def test_by_the_socket_its_rows_are_read(started):
    server = started("memcached?connect=socket")
    assert server.servers()[0]["effective_settings"]["connect"] == "socket"
    attached = started(f"memcached:///?socket={server.endpoint.socket}")
    assert "unix" in attached.store_plan([])["address"] and rows_read(attached) > 0


def test_attached_it_is_read(started):
    server = started("memcached")
    attached = started(f"memcached://127.0.0.1:{server.endpoint.port}")
    assert attached.servers() == server.servers()
    assert attached.durability().level == "unknown"


def test_where_nobody_answers_it_is_said(started):
    with pytest.raises(UserError, match="no server answers there"):
        started("memcached://127.0.0.1:1")


def test_a_setting_it_does_not_have_is_refused_with_those_it_has():
    with pytest.raises(UserError, match=r"no setting 'memry'; did you mean 'memory'\? There are memory, threads"):
        system("memcached?memry=64")
    for wrong in ("much", "-1", "9" * 4000):
        with pytest.raises(UserError, match=f"memory = '{wrong}': give whole MiB, or a share of the data as in 25%"):
            system(f"memcached?memory={wrong}")
    with pytest.raises(UserError, match="does not change 'memory'"):
        system("memcached://h?memory=64")


def test_what_it_was_given_is_in_force(started):
    server = started("memcached?memory=100&threads=3&connections=900&item_size_max=2m&growth_factor=1.5")
    settings = server.all_settings()["memcached"]
    assert (settings["maxbytes"], settings["num_threads"], settings["item_size_max"]) == (
        str(100 << 20),
        "3",
        str(2 << 20),
    )


def test_a_value_it_takes_otherwise_is_an_error(started):
    with pytest.raises(UserError, match="idle_timeout=4294967297 was given, and the server has 1"):
        started("memcached?extended=idle_timeout=4294967297")


def test_a_value_it_does_not_take_is_an_error(started):
    with pytest.raises(UserError, match=r"memcached did not start: .*Item max size cannot be less than 1024"):
        started("memcached?item_size_max=1")
    with pytest.raises(UserError, match="memory = 'abc': give whole MiB"):
        started("memcached?memory=abc")
