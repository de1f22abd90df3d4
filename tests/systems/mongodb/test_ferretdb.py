"""A real private FerretDB over SQLite and over PostgreSQL. Go builds it, so `make test-systems` runs these."""

import shutil
from dataclasses import replace

import pytest

from dbdyno.errors import UserError
from dbdyno.systems.mongodb import ferretdb
from dbdyno.systems.mongodb.ferretdb import FerretDB
from helpers import need, system
from systems.load import ONE_CLIENT, ROWS, execute


def test_what_cannot_be_its_setting_is_refused():
    for text, said in (
        ("ferretdb?backend=mysql", "backend = 'mysql': give one of sqlite, postgresql"),
        ("ferretdb?shared_buffers=1MB", "over SQLite there is no setting 'shared_buffers'"),
        ("ferretdb?index=gin", "over SQLite FerretDB uses no index: leave 'index' out"),
        ("ferretdb?backend=postgresql&index=tree", "index = 'tree': give one of gin, own"),
        ("ferretdb?journal_mode=delete", "over SQLite there is no setting 'journal_mode'"),
        ("ferretdb?synchronous=maybe", "synchronous = 'maybe': give one of full"),
    ):
        with pytest.raises(UserError, match=said):
            system(text)


def test_durability_is_its_backends():
    assert system("ferretdb").durability().level == "D2"
    assert system("ferretdb?synchronous=off").durability().level == "D0"
    assert "unacknowledged" in system("ferretdb?write=unacknowledged").durability().reason


def test_what_is_missing_is_named_with_the_way_to_it(monkeypatch):
    monkeypatch.setattr(ferretdb, "installed", lambda package: None)
    assert "dbdyno systems install ferretdb" in FerretDB.missing()


@pytest.mark.systems
@pytest.mark.parametrize("backend", ["sqlite", "postgresql"])
def test_both_backends_have_their_processes_and_what_was_asked_is_counted(started, backend):
    need(*({backend} & {"postgresql"}))
    server = started(f"ferretdb?backend={backend}")
    names = {"ferretdb"} | ({backend} & {"postgresql"})
    assert set(server.server_pids()) == server.all_settings().keys() == names
    assert backend == "sqlite" or len(server.all_settings()["postgresql"]) > 100
    assert execute(server, "point-get", ["prepare", "load", "run"]).status == 0
    assert server.counters()["ferretdb"]["find"] > 0


@pytest.mark.systems
def test_of_what_is_not_acknowledged_nothing_is_claimed(started):
    server = started("ferretdb")
    unsafe = started(f"mongodb://127.0.0.1:{server.endpoint.port}/dbdyno?write=unacknowledged")
    sent = execute(
        unsafe, "point-update", ["prepare", "load", "run", "verify", "cleanup"], operation_timeout_s=2, **ONE_CLIENT
    )
    check = sent.of("check")[-1]
    assert check["ok"] is None and "sent without acknowledgement" in check["note"]
    assert sent.of("total")[0]["transactions"]["completed"] > 0


@pytest.mark.systems
def test_settings_reach_sqlite_and_what_was_loaded_is_started_from_again(launch):
    need("ferretdb")
    first, second = (system("ferretdb?synchronous=off&connect=socket") for _ in range(2))
    kept = None
    try:
        first.start(launch)
        assert first.servers()[0]["effective_settings"] == {
            "backend": "sqlite",
            "connect": "socket",
            "journal_mode": "wal",
            "synchronous": "off",
        }
        assert first.servers()[0]["not_readable"] == ["journal_mode", "synchronous"]
        assert execute(first, "point-get", ["prepare", "load"]).status == 0
        kept = first.keep().path
        assert not list(kept.glob("*-wal"))
        second.start(replace(launch, data=kept))
        done = execute(second, "point-get", ["run", "verify", "cleanup"])
        assert done.of("total")[0]["reads_verified"] > 0 and done.of("check")[0]["found"] == ROWS
    finally:
        first.stop()
        second.stop()
        if kept:
            shutil.rmtree(kept)
