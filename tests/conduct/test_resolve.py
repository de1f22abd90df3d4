"""An experiment that cannot run is refused before anything starts."""

import os

import pytest

from dbdyno.conduct.listener import Listener
from dbdyno.conduct.resolve import resolve, try_out
from dbdyno.conduct.run import conduct
from dbdyno.errors import RunFailed, UserError
from dbdyno.experiment.read import read_experiment
from dbdyno.experiment.system_spec import parse_system
from dbdyno.hosts import limits
from dbdyno.systems import ARRANGEMENTS, SYSTEMS
from helpers import experiment

HOSTS = {"address": "tls://10.0.0.1:8786", "client": ["c1"]}


def resolved(**keys):
    return resolve(experiment(**keys).experiment)


@pytest.mark.parametrize(
    ("workload", "system", "able", "unable"),
    [
        ("secondary-get", "memcached", "sqlite", "redis"),
        ("secondary-get", "redis", "mariadb", "memcached"),
        ("secondary-get", "lmdb", "mysql", "lmdb"),
        ("secondary-get", "cache-aside(memcached, mariadb)", "mariadb", "cache-aside"),
        ("point-update", "memcached", "lmdb", "memcached"),
        ("insert-indexes", "memcached", "lmdb", "memcached"),
        ("insert-indexes?indexes=1", "redis", "sqlite", "lmdb"),
        ("insert-indexes", "redis?layout=hash", "redis", "memcached"),
        ("insert-indexes", "cache-aside(memcached, mariadb)", "mariadb", "cache-aside"),
        ("trx-lifecycle", "lmdb", "mariadb", "redis"),
        ("batch-get", "cache-aside(memcached, mariadb)", "memcached", "cache-aside"),
        ("point-update", "cache-aside(memcached, mariadb)", "redis", "cache-aside"),
        ("point-update", "memcached://host", "sqlite", "memcached"),
        ("db-stress", "redis", "sqlite", "lmdb"),
        ("db-stress?partitions=16", "sqlite", "postgresql", "sqlite"),
    ],
)
def test_a_workload_a_store_cannot_do_is_refused_with_both_named(workload, system, able, unable):
    with pytest.raises(UserError) as caught:
        resolved(workload=workload, system=system)
    said, _, who_can = str(caught.value).partition(" cannot do; ")
    assert f"the workload '{workload}'" in said and said.endswith(f"'{system}'")
    assert able in who_can.removesuffix(" can").split(", ") and unable not in who_can


@pytest.mark.parametrize("engine", ["MyISAM", "Aria", "Mroonga"])
def test_settings_that_take_an_operation_away_are_named(engine):
    with pytest.raises(UserError, match=rf"which 'mariadb\?engine={engine}' cannot do; mariadb, "):
        resolved(workload="trx-lifecycle", system=f"mariadb?engine={engine}")


@pytest.mark.parametrize("kind", ["read-only", "read-write", "autocommit"])
def test_a_version_without_read_only_transactions_is_refused_these_alone(kind):
    able, unable = (resolved_or_why(f"trx-lifecycle?transaction={kind}", f"mysql@{v}") for v in ("5.6", "5.5"))
    assert "cannot do" not in able
    assert ("which 'mysql@5.5' cannot do (MySQL has START TRANSACTION READ ONLY since 5.6); " in unable) == (
        kind == "read-only"
    )
    assert "cannot do" not in resolved_or_why("tpcc", "mysql@5.5")


def resolved_or_why(workload, system):
    """Return why an experiment is refused, or that a program is not installed, or nothing."""
    try:
        resolved(workload=workload, system=system)
    except UserError as refused:
        return str(refused)
    return ""


OWN = """
workload = "log"
system = "SYSTEM"
rows = 10
clients = 1
seconds = 1

[[workloads.log.tables]]
name = "entry"
columns = [
    { name = "id", kind = "int", generator = "key" },
    { name = "version", kind = "int", generator = "version" },
]

[[workloads.log.transactions]]
name = "all"
weight = 1
operations = [
    { operation = "get", table = "entry" },
    { operation = "OPERATION", table = "entry"EXTRA },
]
"""


@pytest.mark.parametrize(
    ("system", "operation", "extra", "line"),
    [
        ("redis", "scan", ", length = 5", 20),
        ("memcached", "insert", "", 20),
        ("postgresql", "put", ", ttl_s = 60", 20),
    ],
)
def test_the_line_that_asks_for_what_a_store_lacks_is_named(tmp_path, system, operation, extra, line):
    file = tmp_path / "mine.toml"
    text = OWN.replace("SYSTEM", system).replace("OPERATION", operation).replace("EXTRA", extra)
    file.write_text(text)
    with pytest.raises(UserError) as caught:
        conduct(read_experiment(str(file)), "a test", tmp_path / "runs", Listener())
    assert str(caught.value).startswith(f"{file}: line {line}: the workload 'log' needs to ")


@pytest.mark.parametrize(
    ("system", "why"),
    [
        ("cassandra", "it hashes keys to nodes, so they have no order"),
        ("tokyocabinet", "a hash has no order of keys; type=tree has one"),
        ("kyotocabinet", "a hash has no order of keys; type=tree has one"),
        ("tkrzw", "a hash has no order of keys; type=tree has one"),
    ],
)
def test_why_keys_cannot_be_scanned_is_said(system, why):
    ycsb = read_experiment("ycsb").experiment.model_copy(update={"system": [parse_system(system)]})
    with pytest.raises(UserError) as caught:
        resolve(ycsb)
    said = str(caught.value)
    assert "the workload 'ycsb-e' needs to read rows in the order of their keys" in said
    assert f"cannot do ({why}); " in said and "ferretdb" in said


@pytest.mark.parametrize("workload", ["point-get", "game"])
@pytest.mark.parametrize(
    "system",
    [
        *sorted(
            set(SYSTEMS)
            - {arrangement.name for arrangement in ARRANGEMENTS}
            - {"duckdb", "chdb", "monetdb", "clickhouse"}
        ),
        "replicated(mariadb*2)",
        "cache-aside(memcached, mariadb)",
        "result-cache(memcached*2, mariadb)",
    ],
)
def test_every_store_can_get_and_play(workload, system, monkeypatch):
    for known in SYSTEMS.values():
        monkeypatch.setattr(known, "missing", classmethod(lambda cls: None))
    assert [spec.label for spec in resolved(workload=workload, system=system).systems] == [system]


@pytest.fixture
def no_redis(monkeypatch):
    monkeypatch.setattr(SYSTEMS["redis"], "missing", classmethod(lambda cls: "redis-server is not installed: apt it"))


def test_a_missing_server_is_an_error(no_redis):
    with pytest.raises(UserError, match="redis: redis-server is not installed: apt it"):
        resolved(system=["sqlite", "redis"])


def test_or_is_left_out(no_redis):
    result = resolved(system=["sqlite", "redis"], if_missing="skip")
    assert [spec.label for spec in result.systems] == ["sqlite"]
    assert [(spec.label, reason) for spec, reason in result.skipped] == [
        ("redis", "redis-server is not installed: apt it")
    ]


def test_unless_nothing_is_left(no_redis):
    with pytest.raises(UserError, match="none of the systems is installed"):
        resolved(system="redis", if_missing="skip")


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"cpus": {"client": [os.cpu_count() + 9]}}, "cpus.client: dbdyno may not use CPU"),
        ({"system": "sqlite", "memory_limit": "64M"}, "runs inside the load client"),
        ({"system": "redis://host", "memory_limit": "64M"}, "was not started by dbdyno"),
        ({"system": "lmdb", "clients": [513]}, "at most 512"),
        ({"cpus": {"server": [[0], [os.cpu_count() + 9]]}, "system": "redis"}, "cpus.server: dbdyno may not use CPU"),
        ({"cpus": {"server": [[0], [0, 0]]}}, "cpus.server: .sqlite, server CPUs 0. runs inside the load client"),
        ({"load_threads": 2}, "load_threads: .sqlite. takes a thread for each client"),
        ({"system": "redis://host", "data_dir": "/tmp"}, "data_dir: .* was not started by dbdyno"),
        ({"data_dir": "/nowhere"}, "data_dir: /nowhere is not a directory here"),
        ({"memory_limit": ["64M", "1G"]}, "memory_limit: .sqlite, memory limit 64M. runs inside"),
        ({"workload": "durability", "hosts": HOSTS}, "hosts: the clients of 'durability' run on one host only"),
    ],
    ids=str,
)
def test_what_the_host_or_the_system_does_not_allow_is_refused(keys, said):
    with pytest.raises(UserError, match=said):
        resolved(**({"system": "sqlite"} | keys))


@pytest.mark.parametrize(
    ("workload", "system", "said"),
    [
        ("game", "redis", "a transaction of 'game' is not a single get; point-get"),
        ("secondary-get", "mariadb", "is not a single get; point-get"),
        ("point-get", "mariadb", "'mariadb' takes one request at a time; handlersocket, postgresql, memcached, redis"),
        ("point-get", "lmdb", "handlersocket, postgresql, memcached, redis, valkey, tokyotyrant, cassandra can"),
        ("point-get", "redis?layout=hash", "keeps rows as hashes: give layout=string"),
        ("point-get", "cache-aside(memcached, mariadb)", "memcached, redis, valkey, tokyotyrant, cassandra can"),
    ],
)
def test_a_pipeline_that_cannot_be_is_refused_with_who_can(workload, system, said):
    with pytest.raises(UserError, match=said.replace("(", r"\(")):
        resolved(workload=workload, system=system, pipeline=[1, 16])


@pytest.mark.parametrize("system", ["redis", "memcached", "redis://host"])
def test_those_that_pipeline_may(system, monkeypatch):
    for name in ("redis", "memcached"):
        monkeypatch.setattr(SYSTEMS[name], "missing", classmethod(lambda cls: None))
    assert resolved(workload="point-get", system=system, pipeline=16).systems


@pytest.mark.parametrize(
    ("system", "clients", "fits"),
    [
        ("redis", 936, True),
        ("redis", 937, False),
        ("cache-aside(memcached, mariadb)", 469, False),
        ("sqlite", 500, True),
    ],
)
def test_more_clients_than_file_descriptors_are_refused_with_the_remedy(system, clients, fits, monkeypatch):
    for known in SYSTEMS.values():
        monkeypatch.setattr(known, "missing", classmethod(lambda cls: None))
    monkeypatch.setattr("resource.getrlimit", lambda which: (100, 1000))
    if fits:
        assert resolved(system=system, clients=[1, clients]).systems
    else:
        with pytest.raises(UserError, match=r"file descriptors, and 1,000 are allowed here\. .*ulimit -Hn 100[12]"):
            resolved(system=system, clients=[1, clients])


def test_more_clients_than_ports_are_refused_with_the_remedy(monkeypatch, tmp_path):
    for known in SYSTEMS.values():
        monkeypatch.setattr(known, "missing", classmethod(lambda cls: None))
    ports = tmp_path / "ip_local_port_range"
    ports.write_text("60000\t60099\n")
    monkeypatch.setattr(limits, "PORT_RANGE", ports)
    assert resolved(system="redis", clients=[100]).systems
    with pytest.raises(
        UserError, match=r"101 clients need as many ports, and this host has 100 .*\. Run `sysctl -w net\.ipv4"
    ):
        resolved(system="redis", clients=[1, 101])
    for text in ("redis?connect=socket", "mysql://root@localhost/test?socket=/run/m.sock", "sqlite"):
        assert resolved(system=text, clients=[101]).systems


def test_settings_are_tried_out_and_what_has_none_is_not(fake_system, guard):
    plain = experiment(system="fake").experiment
    try_out(plain, resolve(plain), guard)
    assert fake_system.calls == []
    mistyped = experiment(system=["fake", "fake?fail_start"]).experiment
    with pytest.raises(RunFailed, match="fake did not start"):
        try_out(mistyped, resolve(mistyped), guard)
    assert fake_system.calls == ["start", "stop"]


def test_an_embedded_store_has_no_network():
    with pytest.raises(UserError, match="'sqlite' runs inside the load client, without a network"):
        resolved(system="sqlite", network_delay_us=200)


def test_what_keeps_nothing_cannot_be_restarted():
    with pytest.raises(UserError, match="'memcached' cannot start again from its data") as caught:
        resolved(system="memcached", restart="cold")
    able = str(caught.value).removesuffix(" can").rpartition("; ")[2].split(", ")
    assert {"mariadb", "mysql", "postgresql", "redis", "sqlite"} <= set(able)
    assert not {"memcached", "galera", "tidb", "duckdb"} & set(able)
