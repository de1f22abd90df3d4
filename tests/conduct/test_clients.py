"""Each system is driven through the clients that speak to it, and what does not fit is refused naming both."""

import pytest

from dbdyno.conduct.clients import driven, missing_library
from dbdyno.conduct.resolve import resolve
from dbdyno.errors import UserError
from dbdyno.experiment.clients import LIBRARIES, Library
from dbdyno.experiment.read import read_experiment
from dbdyno.systems import SYSTEMS
from helpers import experiment


def labels(**keys):
    return [(spec.label, spec.client) for spec in driven(experiment(**keys).experiment)]


def test_without_a_client_the_native_one_drives_everything():
    assert labels(system=["sqlite", "redis"]) == [("sqlite", "native"), ("redis", "native")]


def test_of_a_list_each_system_takes_those_that_speak_to_it():
    clients = ["native", "pymysql", "mysqlclient", "redis-py", "pymemcache"]
    assert labels(system=["mariadb?engine=Aria", "redis", "memcached"], client=clients) == [
        ("mariadb", "native"),
        ("mariadb via pymysql", "pymysql"),
        ("mariadb via mysqlclient", "mysqlclient"),
        ("redis", "native"),
        ("redis via redis-py", "redis-py"),
        ("memcached", "native"),
        ("memcached via pymemcache", "pymemcache"),
    ]
    libpq = "psycopg?library=/opt/libpq.so.5"
    assert labels(system="postgresql", client=["psycopg", libpq]) == [
        ("postgresql via psycopg", "psycopg"),
        (f"postgresql via {libpq}", libpq),
    ]
    assert labels(system="mysql://u@h/d", client="pymysql") == [("mysql://h/d via pymysql", "pymysql")]


def test_a_pair_of_libraries_drives_a_cache_and_the_store_behind_it():
    behind = ["cache-aside(memcached?memory=64, mariadb)", "cache-aside(redis, postgresql)"]
    assert labels(system=behind, client=["native", "pymemcache+pymysql", "redis-py+psycopg"]) == [
        ("cache-aside(memcached, mariadb)", "native"),
        ("cache-aside(memcached, mariadb) via pymemcache+pymysql", "pymemcache+pymysql"),
        ("cache-aside(redis, postgresql)", "native"),
        ("cache-aside(redis, postgresql) via redis-py+psycopg", "redis-py+psycopg"),
    ]


def test_a_program_drives_every_server_by_its_files_name():
    clients = ["native", "./mine", "redis-py"]
    assert labels(system=["redis", "cache-aside(memcached, mariadb)", "sqlite"], client=clients) == [
        ("redis", "native"),
        ("redis via mine", "./mine"),
        ("redis via redis-py", "redis-py"),
        ("cache-aside(memcached, mariadb)", "native"),
        ("cache-aside(memcached, mariadb) via mine", "./mine"),
        ("sqlite", "native"),
    ]
    assert labels(system="redis", client=["a/mine", "b/mine", "c/other"]) == [
        ("redis via a/mine", "a/mine"),
        ("redis via b/mine", "b/mine"),
        ("redis via other", "c/other"),
    ]


def test_a_program_is_left_to_say_what_it_does_not_do():
    keys = {"system": "redis", "client": "./mine", "workload": "point-get"}
    for asked in ({"rate": 100}, {"pipeline": 16}, {"network_delay_us": 200}, {"clients": 513}, {"think_time": "2ms"}):
        assert labels(**keys | asked) == [("redis via mine", "./mine")]


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"system": "redis", "client": "pymysql"}, "'pymysql' does not speak to 'redis', native and redis-py can"),
        ({"system": "sqlite", "client": "pymysql"}, "'pymysql' does not speak to 'sqlite', native can"),
        ({"system": "redis", "client": "psycopg?library=/a"}, "'psycopg' does not speak to 'redis', native and redis"),
        (
            {"system": "postgresql?tls=on", "client": "psycopg"},
            "'psycopg' does not speak to 'postgresql.*', native can",
        ),
        (
            {"system": ["redis", "sqlite"], "client": ["native", "pymemcache"]},
            "'pymemcache' does not speak to any of these systems; pymemcache speaks to memcached",
        ),
        (
            {"system": "ferretdb?write=unacknowledged", "client": "pymongo"},
            "'pymongo' does not speak to 'ferretdb[^']*', native can",
        ),
        (
            {"system": "cache-aside(memcached, mariadb)", "client": "pymysql"},
            r"'pymysql' does not speak to 'cache-aside.*', native and pymemcache\+pymysql and pymemcache\+mys",
        ),
        (
            {"system": "redis", "client": "pymemcache+pymysql"},
            r"'pymemcache\+pymysql' does not speak to 'redis', .*; pymemcache speaks to memcached; pymysql speaks to",
        ),
        (
            {"system": "sqlite", "client": "./mine"},
            "'./mine' does not speak to 'sqlite', native can; a program of your own drives servers",
        ),
        ({"system": "redis", "client": "redis-py", "rate": 100}, "closed loop; leave rate"),
        ({"system": "redis", "client": "redis-py", "network_delay_us": 200}, "leave network_delay_us out"),
        ({"system": "redis", "client": "redis-py", "pipeline": 16, "workload": "point-get"}, "leave pipeline out"),
        ({"system": "redis", "client": "redis-py", "clients": 513}, "at most 512"),
    ],
)
def test_what_does_not_fit_is_refused(keys, said):
    with pytest.raises(UserError, match=said):
        labels(**keys)


@pytest.fixture
def no_pymysql(monkeypatch):
    """Take PyMySQL for not installed."""
    gone = Library("pymysql", "PyMySQL", "no_such_module", "pymysql")
    monkeypatch.setitem(LIBRARIES, "pymysql", gone)
    monkeypatch.setattr(SYSTEMS["mariadb"], "missing", classmethod(lambda cls: None))


def test_a_library_that_is_missing_is_an_error_that_says_how_to_get_it(no_pymysql):
    asked = experiment(system="mariadb", client=["native", "pymysql"]).experiment
    with pytest.raises(
        UserError, match=r"mariadb via pymysql: pymysql is not installed: pip install 'dbdyno\[pymysql\]'"
    ):
        resolve(asked)
    native, through = driven(asked)
    assert missing_library(native) is None and "pip install" in missing_library(through)


def test_a_library_that_is_missing_may_be_skipped(no_pymysql):
    resolved = resolve(experiment(system="mariadb", client=["native", "pymysql"], if_missing="skip").experiment)
    assert [spec.label for spec in resolved.systems] == ["mariadb"]
    ((skipped, reason),) = resolved.skipped
    assert skipped.label == "mariadb via pymysql" and "pip install" in reason


def test_the_shipped_experiment_drives_every_library_whose_server_starts_soon():
    specs = driven(read_experiment("client-library").experiment)
    # Its server alone takes longer to start than all the others' trials.
    assert {spec.client for spec in specs} == {"native", *LIBRARIES} - {"cassandra-driver"}
