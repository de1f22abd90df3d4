"""A server of the MongoDB protocol that is somebody else's: here a FerretDB that another part of dbdyno started."""

import pytest

from dbdyno.errors import RunFailed, UserError
from dbdyno.systems.mongodb import mongodb
from dbdyno.systems.mongodb.client import connect
from dbdyno.systems.mongodb.mongodb import UNACKNOWLEDGED, flat
from dbdyno.systems.mongodb.no_answer import NoAnswer
from helpers import system
from systems.load import ROWS, execute


def test_it_wants_a_database_and_no_setting_of_the_server():
    with pytest.raises(UserError, match="name the database"):
        system("mongodb://h")
    with pytest.raises(UserError, match="does not change 'storageEngine'"):
        system("mongodb://h/d?storageEngine=x")
    with pytest.raises(UserError, match="write = 'maybe': give one of acknowledged, unacknowledged"):
        system("mongodb://h/d?write=maybe")


def test_the_plan_says_who_where_and_whether_writes_are_acknowledged():
    secrets = []
    plan = system("mongodb://u:secret@h/d?authSource=d&write=unacknowledged").store_plan(secrets)
    assert (plan["address"], plan["user"], plan["database"]) == ({"host": "h", "port": 27017}, "u", "d")
    assert (plan["auth_database"], plan["write"], secrets) == ("d", "unacknowledged", ["secret"])
    assert system("mongodb://h/d").store_plan([])["auth_database"] == "admin"


def in_the_child(url):
    return mongodb.AttachedMongoDB(system(url).spec)


def test_what_is_not_acknowledged_is_of_the_lowest_class():
    assert in_the_child("mongodb://h/d?write=unacknowledged").durability() == UNACKNOWLEDGED
    assert "unacknowledged" in UNACKNOWLEDGED.reason and UNACKNOWLEDGED.level == "D0"
    assert in_the_child("mongodb://h/d").durability().level == "unknown"


def test_where_nobody_answers_it_is_said(launch):
    with pytest.raises(UserError, match=r"no server answers there .*refused"):
        system("mongodb://127.0.0.1:1/d").start(launch)


def test_settings_are_flat_without_passwords_or_say_that_they_are_not_shown(monkeypatch):
    options = {"storage": {"engine": "wiredTiger"}, "net": {"tls": {"certificateKeyFilePassword": "x"}}}
    answers = {
        "getParameter": {"quiet": False, "$clusterTime": {"t": 1}, "ok": 1.0},
        "getCmdLineOpts": {"parsed": options},
    }

    class Client:
        def ask(self, endpoint, auth_database, command, timeout_s, value):
            assert endpoint.database == "admin"
            return answers[command]

    monkeypatch.setattr(mongodb, "client_module", Client)
    server = in_the_child("mongodb://h/d")
    assert server.all_settings() == {"mongodb": {"quiet": "False", "parsed.storage.engine": "wiredTiger"}}
    assert flat({"argv": ["--password", "x"]}) == {}

    def refuse(self, *asked):
        raise NoAnswer("not authorized on admin", True)

    monkeypatch.setattr(Client, "ask", refuse)
    settings = server.all_settings()["mongodb"]
    assert settings.keys() == answers.keys() and all("not authorized" in value for value in settings.values())


@pytest.mark.systems
def test_attached_it_is_read_and_only_what_carries_a_marker_is_removed(started):
    server = started("ferretdb")
    url = f"mongodb://127.0.0.1:{server.endpoint.port}/theirs"
    attached = started(url)
    assert attached.server_pids() == {} and attached.servers()[0]["version"]
    assert "quiet" in attached.all_settings()["mongodb"]
    assert execute(attached, "point-get", ["prepare", "load"]).status == 0
    done = execute(attached, "point-get", ["run", "verify", "cleanup"])
    assert done.of("total")[0]["reads_verified"] > 0 and done.of("check")[0]["found"] == ROWS
    assert done.of("phase")[-1]["removed"] == ["dbdyno_bm"]
    assert attached.counters()["mongodb"]["find"] > 0
    server.stop()
    with pytest.raises(RunFailed, match="does not answer"):
        attached.counters()


@pytest.mark.systems
def test_a_collection_of_that_name_without_a_marker_is_not_touched(started):
    server = started("ferretdb")
    with connect(server.endpoint, "admin", 5) as client:
        client["dbdyno"]["dbdyno_bm"].insert_one({"_id": 1, "mine": True})
        refused = execute(server, "point-get", ["prepare", "load", "cleanup"])
        assert refused.status == 2 and "without dbdyno's marker" in refused.of("end")[0]["reason"]
        assert client["dbdyno"]["dbdyno_bm"].find_one() == {"_id": 1, "mine": True}


@pytest.mark.systems
def test_the_owner_of_a_ferretdb_is_warned_of_a_new_database_that_stays(started):
    server = started("ferretdb")
    attached = started(f"mongodb://127.0.0.1:{server.endpoint.port}/mine")
    assert [sentence for sentence in attached.cautions() if "keeps the database 'mine', which is new" in sentence]
    assert execute(attached, "point-get", ["prepare", "load", "cleanup"]).status == 0
    assert attached.cautions() == []
