"""A private mongod, which no registry has: a stand-in takes its options and runs FerretDB behind them."""

import tempfile
from pathlib import Path

import pytest

from dbdyno.errors import UserError
from dbdyno.systems.mongodb.mongod import CONCERNS, MongoDB
from helpers import need, system
from systems.load import rows_read

STAND_IN = Path(__file__).with_name("stand_in.py")


@pytest.fixture
def mongod():
    """The path of a program that takes mongod's options, where the user of servers gets to it."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        program = Path(folder) / "mongod"
        program.write_text(STAND_IN.read_text().replace("FERRETDB_PATH", _ferretdb()))
        program.chmod(0o755)
        yield program


def _ferretdb():
    there = system("ferretdb").installation()
    return there.program("ferretdb")[-1] if there else "none"


@pytest.mark.systems
@pytest.mark.parametrize(
    ("write", "concern", "level"),
    [
        ("majority", "w: majority", "D2"),
        ("journaled", "w: 1, j: True", "D2"),
        ("w1", "w: 1, j: False", "D1"),
        ("unacknowledged", "w: 1, j: False", "D0"),
    ],
)
def test_each_write_concern_is_the_servers_and_rows_are_loaded(started, mongod, write, concern, level):
    need("ferretdb")
    text = f"mongodb?binary={mongod}&write={write}&wiredTigerCacheSizeGB=0.25&setParameter.ttlMonitorEnabled=false"
    server = started(text)
    (server_document,) = server.servers()
    assert server_document["effective_settings"] == {"defaultWriteConcern": concern}
    assert (server.durability().level, server.build.version) == (level, "7.0.5")
    acknowledged = "unacknowledged" if write == "unacknowledged" else "acknowledged"
    assert server.store_plan([])["write"] == acknowledged and rows_read(server) > 0
    settings = server.started_with()["mongodb"]
    assert {"--replSet=dbdyno", "--wiredTigerCacheSizeGB=0.25", "--setParameter ttlMonitorEnabled=false"} <= set(
        settings
    )
    directory = server._directory.path
    server.stop()
    assert not directory.exists()


@pytest.mark.systems
def test_a_file_of_settings_is_given_as_options(started, mongod):
    need("ferretdb")
    (mongod.parent / "mongod.conf").write_text(
        "storage:\n  journal:\n    commitIntervalMs: 50\nsetParameter:\n  a: b\n"
    )
    server = started(f"mongodb?binary={mongod}&config={mongod.parent}/mongod.conf")
    assert {"--journalCommitInterval=50", "--setParameter a=b"} <= set(server.started_with()["mongodb"])
    settings = {"journalCommitInterval": "50", "setParameter.a": "b"}
    assert server.origins()["mongodb"]["config"]["settings"] == settings


@pytest.mark.systems
def test_an_option_that_it_does_not_have_is_said_in_its_words(started, mongod):
    with pytest.raises(UserError, match=r"mongodb did not start: .*unrecognized arguments: --bogus=1"):
        started(f"mongodb?binary={mongod}&bogus=1")


def test_what_is_kept_in_memory_or_without_a_journal_promises_less():
    levels = [system(f"mongodb?{text}").durability().level for text in ("storageEngine=inMemory", "nojournal", "")]
    assert levels == ["D0", "D1", "D2"]


@pytest.mark.parametrize("text", ["dbpath=/x", "replSet=other", "bind_ip=0.0.0.0", "port=1"])
def test_what_is_dbdynos_own_is_refused(text):
    with pytest.raises(UserError, match="dbdyno sets"):
        system(f"mongodb?{text}")


def test_the_default_is_mongodbs_own_and_an_unknown_one_is_refused():
    assert MongoDB.writes == tuple(CONCERNS) and MongoDB.writes[0] == "majority"
    with pytest.raises(UserError, match="write = 'two': give one of majority, journaled, w1, unacknowledged"):
        system("mongodb?write=two")


def test_where_it_is_must_be_said_if_the_host_has_none(monkeypatch):
    monkeypatch.setattr("dbdyno.systems.mongodb.mongod.find_program", lambda name: None)
    assert "mongodb?binary=/path/to/mongod" in MongoDB.missing()
