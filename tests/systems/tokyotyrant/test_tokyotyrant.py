"""A private ttserver: the host's own if it has one, and a stand-in that takes its options and speaks its protocol."""

import pytest

from dbdyno.errors import UserError
from dbdyno.experiment.workloads import FIND_SECONDARY
from dbdyno.systems.tokyotyrant.tokyotyrant import TYPES, TokyoTyrant
from helpers import system
from systems.load import execute, rows_read


def coming_and_going(verbs):
    """Return the options of a workload that reads rows of text and does these operations on them."""
    columns = [
        {"name": "id", "kind": "int", "generator": "key"},
        {"name": "version", "kind": "int", "generator": "version"},
        {"name": "note", "kind": "varchar(40)", "generator": "versioned-letters"},
    ]
    transactions = [
        {"name": verb, "weight": 1, "operations": [{"operation": verb, "table": "thing"}]} for verb in ("get", *verbs)
    ]
    return {"declaration": {"tables": [{"name": "thing", "columns": columns}], "transactions": transactions}}


@pytest.mark.parametrize("kind", TYPES)
def test_each_type_is_started_filled_read_and_counted(started, program, kind):
    server = started(f"tokyotyrant?binary={program}&type={kind}&threads=4")
    (server_document,) = server.servers()
    assert (server_document["version"], server.build.version) == ("1.1.41", "1.1.41")
    effective = server_document["effective_settings"]
    assert (effective["threads"], effective["type"]) == ("4", "B+ tree" if kind == "tree" else kind)
    assert rows_read(server) > 0 and server.counters()["tokyotyrant"]["cnt_get"] > 0
    assert (FIND_SECONDARY in server.operations, server.durability().level) == (kind == "table", "D0")
    assert server.store_plan([])["layout"] == ("columns" if kind == "table" else "value")
    directory = server.directory.path
    server.stop()
    assert not directory.exists()


@pytest.mark.parametrize(
    ("workload", "options"),
    [
        ("game", {}),
        ("batch-get", {}),
        ("secondary-get", {}),
        ("insert-indexes", {"indexes": 3}),
        ("declared", coming_and_going(("put", "delete"))),
    ],
)
@pytest.mark.parametrize("kind", ["hash", "table"])
def test_rows_are_written_found_and_counted(started, program, kind, workload, options):
    if kind == "hash" and (workload == "secondary-get" or options.get("indexes")):
        pytest.skip("a hash has no secondary indexes")
    server = started(f"tokyotyrant?binary={program}&type={kind}")
    done = execute(server, workload, ["prepare", "load", "run", "verify", "cleanup"], options=options)
    (total,) = done.of("total")
    assert (done.status, done.errors(), total["mismatches"]) == (0, set(), 0), done.of("end")
    assert total["transactions"]["completed"] > 0
    assert all(check["ok"] is not False for check in done.of("check"))
    # What is left are no records of dbdyno's.
    assert int(server._stat()["rnum"]) == 0


def test_a_table_takes_no_bytes(started, program):
    server = started(f"tokyotyrant?binary={program}&type=table")
    (last,) = execute(server, "extreme-values", ["prepare", "cleanup"]).of("end")
    assert "takes texts without the byte 0" in last["reason"] and last["status"] == "refused"


def test_a_hash_finds_no_row_by_another_column(started, program):
    server = started(f"tokyotyrant?binary={program}")
    (last,) = execute(server, "secondary-get", ["prepare", "cleanup"]).of("end")
    assert "tokyotyrant cannot do the step" in last["reason"]


def test_its_options_are_given_and_its_socket_is_used(started, program):
    settings = "connect=socket&buckets=1000&compression=deflate&mmap_mib=32&update_log=on"
    server = started(f"tokyotyrant?binary={program}&{settings}")
    options = server.started_with()["tokyotyrant"]
    assert any(option.startswith("-ulog ") for option in options), options
    assert options[-1] == "data.tch#bnum=1000#opts=ld#xmsiz=33554432"
    assert server.servers()[0]["effective_settings"]["connect"] == "socket"
    assert "unix" in server.store_plan([])["address"] and rows_read(server) > 0


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("type=list", "type = 'list': give one of hash, tree, table"),
        ("threads=0", "threads = '0': give a whole number"),
        ("treads=4", "no setting 'treads'; did you mean 'threads'"),
        ("port=1978", "dbdyno sets"),
        ("compression=best", "compression = 'best': give one of none"),
    ],
)
def test_settings_that_it_does_not_have_are_refused(settings, said):
    with pytest.raises(UserError, match=said):
        system(f"tokyotyrant?{settings}")


def test_where_it_is_must_be_said_if_the_host_has_none(monkeypatch):
    monkeypatch.setattr("dbdyno.systems.tokyotyrant.tokyotyrant.find_program", lambda name: None)
    assert "tokyotyrant?binary=/path/to/ttserver" in TokyoTyrant.missing()
