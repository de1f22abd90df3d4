"""Clients by name, and how to get one that is not installed."""

from pathlib import Path

import pytest

from dbdyno.experiment.clients import (
    LIBRARIES,
    NATIVE,
    Library,
    c_library_of,
    cache_library_of,
    check_clients,
    is_own,
    libraries_among,
    library_of,
    name_of,
    program_of,
    words_of,
)


def test_the_clients_there_are_are_accepted():
    names = [NATIVE, *LIBRARIES]
    assert check_clients(names) == names


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["pymysq"], "no client 'pymysq'.*pymysql.*The clients are native, pymysql, mysqlclient"),
        ([], "at least one client"),
        (["native", "native"], "each once"),
        (["psycopg?library=/a", "psycopg?library=/a"], "each once"),
        (["psycopg?library="], r"write psycopg\?library=/path/to/libpq\.so"),
        (["psycopg?lib=/a"], r"write psycopg\?library=/path/to/libpq\.so"),
        (["pymysql?library=/a"], "pymysql has no C library to choose; mysqlclient and psycopg have one"),
        (["native?library=/a"], "native has no C library to choose"),
        (["psycop?library=/a"], "no client 'psycop'; did you mean 'psycopg'"),
        (["pymemcache+nosuch"], "no client 'nosuch'"),
        (["pymysql+pymemcache"], r"write the library of the cache, pymemcache or redis-py, and behind a \+"),
        (["redis-py+native"], r"write the library of the cache"),
        (["redis-py+pymysql?library=/a"], "pymysql has no C library to choose"),
        (["mine"], r"no client 'mine'.* cassandra-driver, or a program's path, such as \./mine"),
        (["./mine", "./mine"], "each once"),
    ],
)
def test_others_are_refused(names, said):
    with pytest.raises(ValueError, match=said):
        check_clients(names)


def test_a_client_may_name_the_file_of_its_c_library():
    clients = ["psycopg", "psycopg?library=/opt/a=b/libpq.so.5"]
    assert check_clients(clients) == clients
    assert [name_of(client) for client in clients] == ["psycopg", "psycopg"]
    assert [c_library_of(client) for client in clients] == [None, Path("/opt/a=b/libpq.so.5")]
    assert library_of(clients[1]) is LIBRARIES["psycopg"]


def test_a_pair_drives_a_cache_and_the_store_behind_it():
    clients = ["pymemcache+pymysql", "redis-py+psycopg?library=/opt/libpq.so.5", "pymysql"]
    assert check_clients(clients) == clients == libraries_among(clients)
    assert [library_of(client).name for client in clients] == ["pymysql", "psycopg", "pymysql"]
    assert [cache_library_of(client) for client in clients] == [LIBRARIES["pymemcache"], LIBRARIES["redis-py"], None]
    assert c_library_of(clients[1]) == Path("/opt/libpq.so.5")


def test_a_client_with_a_slash_is_a_program_of_ones_own(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    clients = ["native", "psycopg?library=/opt/libpq.so.5", "./mine", "/opt/x=1/mine?a"]
    assert check_clients(clients) == clients
    assert [is_own(client) for client in clients] == [False, False, True, True]
    assert libraries_among(clients) == [clients[1]]
    assert [program_of(client) for client in clients] == [None, None, tmp_path / "mine", Path("/opt/x=1/mine?a")]
    assert c_library_of(clients[3]) is None
    assert [words_of(client, clients) for client in clients] == [*clients[:2], "mine", "mine?a"]
    assert words_of("a/mine", ["a/mine", "b/mine"]) == "a/mine"


def test_a_library_knows_whether_it_is_installed_and_how_to_get_it():
    assert LIBRARIES["pymysql"].installed
    gone = Library("gone-py", "is gone", "no_such_module", "gone")
    assert not gone.installed
    assert gone.missing == "gone-py is not installed: pip install 'dbdyno[gone]'"
