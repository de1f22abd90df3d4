"""A workload of an experiment's own is read, checked with the place of every error, and put into the plan."""

from pathlib import Path

import pytest

from dbdyno.conduct.plan import make_plan
from dbdyno.errors import UserError
from dbdyno.experiment.own_workload import Column, OwnWorkload, Table
from dbdyno.experiment.read import read_experiment
from dbdyno.experiment.workload_spec import parse_workload
from dbdyno.experiment.write import to_toml
from dbdyno.systems.memcached.memcached import MemcachedServer

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(
    ("name", "needs"),
    [
        ("session-store", ("get", "insert", "update")),
        ("event-log", ("insert", "find-secondary", "sql", "get", "transaction", "read-only")),
    ],
)
def test_the_examples_are_read_and_what_they_need_is_known(name, needs, tmp_path):
    experiment = read_experiment(str(EXAMPLES / f"{name}.toml")).experiment
    own = {name: experiment.workloads[name].as_workload(name)}
    workload = parse_workload(f"{name}?access=uniform", own, {})
    assert workload.operations == needs
    plan = make_plan(experiment, "id", ("run",), {}, workload, 1).document()["workload"]
    assert plan["name"] == "declared" and plan["options"]["access"] == "uniform"
    assert plan["options"]["declaration"]["tables"][0]["columns"][0] == {
        "name": "id",
        "kind": "int",
        "generator": "key",
    }
    (tmp_path / "again.toml").write_text(to_toml(experiment))
    assert read_experiment(str(tmp_path / "again.toml")).experiment == experiment


GET = '{ operation = "get", table = "event" },'
"""The last operation of the example event-log, in line 60."""


def _on_event(operation, more=None):
    parts = [f'operation = "{operation}"', 'table = "event"', more]
    return f"{{ {', '.join(filter(None, parts))} }},"


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ('generator = "letters"', 'generator = "lettres"', "line 22: .*'lettres'.*'versioned-letters'"),
        ('kind = "tinyint"', 'kind = "byte"', "line 21: .*there is no kind 'byte'.*tinyint, smallint"),
        ('columns = ["happened_s"]', 'columns = ["happened"]', "line 24: .*no column 'happened'; did you mean"),
        ('"severe"\nsql', '"se-vere"\nsql', "line 35: .*name: 'se-vere': give a name of small letters"),
        ('generator = "letters"', 'generator = "padded", pad = "00"', "line 22: .*pad: '00': give one character"),
        ("weight = 70", "weight = 0", "line 43: .*weight = 0"),
        ("below = 8", "below = 0", "line 21: .*below = 0"),
        ("below = 8 }", "belov = 8 }", "line 21: .*belov"),
        (', generator = "linear"', "", "line 19: .*generator' is missing"),
        ('statement = "severe"', 'statement = "severest"', "line 58: .*no statement 'severest'; did you mean 'severe'"),
        ('"event.happened_s", offset', '"event.device", offset', "event.device' changes"),
        ("from = 0, ", "", "line 35: .*statement 'severe'.*kind = \"int\", from = 1"),
        ("[1, 120]", "[1, 120]\nlimit = 3", "line 33: there is no key '.*limit'.*The keys are name, sql"),
        ('table = "event" }]', 'table = "events" }]', "line 44: .*no table 'events'; did you mean 'event'"),
        ("AND severity", "AND 1 = ? AND severity", "3 times '\\?' and 2 parameters"),
        ('within = "read-only"', 'within = "snapshot"', "line 56: .*'snapshot'"),
        ('"letters"', '"letters", size = 121', "line 22: .*'message': a size of 121 does not fit into varchar.120"),
        ('"letters"', '"letters", size = { kind = "gev" }', "line 22: .*'gev' need location"),
        ('kind = "varchar(120)"', 'kind = "binary(120)"', "line 22: .*'message': 'letters' makes text, no binary.120"),
        ('kind = "tinyint"', 'kind = "datetime"', "line 21: .*'severity': 'number' makes numbers, no datetime"),
        ('generator = "letters"', 'generator = "bytes"', "line 22: .*'message': 'bytes' makes bytes, no varchar"),
        ('kind = "int", from = 0', 'kind = "datetime", from = 0', "line 35: .*'severe': a parameter is"),
        ("below = 8", "below = 8, size = 1", "line 21: .*'severity': only padded, letters"),
        ('access = "latest"', 'access = "last"', "line 49: .*access.kind = 'last'"),
        ('access = "latest"', 'access = { kind = "zipfian", exponent = 3.5 }', "line 49: .*exponent = 3.5"),
        ('access = "latest"', 'access = { kind = "latest", rows = 0.5 }', "line 49: .*'latest' does not take rows"),
        ('access = "latest"', 'access = { kind = "latest", theta = 0.5 }', "line 49: .*theta.*exponent"),
        ("step = 1 }", "step = 1, below = 3 }", "line 19: .*'happened_s': the generator 'linear' does not take below"),
        (", step = 1 }", " }", "line 19: .*'happened_s': the generator 'linear' needs step"),
        (
            '(120)", generator = "letters"',
            '(9)", generator = "email"',
            "line 22: .*'email' needs 32 characters or more",
        ),
        ('generator = "key"', 'generator = "version"', "line 16: .*table 'event': the first column, and no other"),
        (GET, '{ operation = "get" },', "line 60: .*the operation 'get' needs table"),
        (GET, _on_event("get", "by = 2"), "line 60: .*the operation 'get' does not take by"),
        (GET, _on_event("get", "ttl_s = 2"), "line 60: .*the operation 'get' does not take ttl_s"),
        (GET, _on_event("put", "ttl_s = 2592001"), "line 60: .*ttl_s = 2592001"),
        (GET, _on_event("put"), "line 16: .*table 'event': it is updated, so a column must have"),
        (GET, _on_event("scan"), "line 60: .*the operation 'scan' needs length"),
        (GET, _on_event("scan", "length = 1001"), "line 60: .*a 'scan' reads at most 1,000 rows, and length has 1001"),
        (GET, _on_event("add", 'column = "device"'), "line 20: .*column 'device': it is added to, so its generator"),
        (GET, _on_event("find", 'column = "device"'), "line 20: .*column 'device': it is looked up, so its generator"),
        (
            GET,
            _on_event("delete") + _on_event("add", 'column = "device"'),
            "line 16: .*table 'event': it has 'delete', so no sum can check its 'add'",
        ),
        ('name = "chart"', 'name = "range"', "'range' is listed twice"),
        ('name = "chart"', 'name = "insert_event"', "'insert_event' is listed twice"),
    ],
)
def test_what_is_wrong_is_named_with_its_line_and_what_is_known(right, wrong, said, tmp_path):
    text = (EXAMPLES / "event-log.toml").read_text()
    assert right in text
    file = tmp_path / "mine.toml"
    file.write_text(text.replace(right, wrong, 1))
    with pytest.raises(UserError, match=said):
        read_experiment(str(file))


def test_the_name_of_a_built_in_workload_is_refused(tmp_path):
    text = (EXAMPLES / "event-log.toml").read_text().replace("event-log", "game")
    (tmp_path / "mine.toml").write_text(text)
    with pytest.raises(UserError, match="'game': give another name"):
        read_experiment(str(tmp_path / "mine.toml"))


def test_how_large_its_rows_are_follows_from_their_columns():
    of = {name: read_experiment(str(EXAMPLES / f"{name}.toml")).experiment for name in ("session-store", "event-log")}
    # Three numbers, a name of 28 characters in a column of 40, and letters that fill theirs; no index.
    (sessions,), (events,) = (of[name].workload for name in ("session-store", "event-log"))
    assert (sessions.data_bytes(7), sessions.records(7)) == ((3 * 4 + 28 + 400) * 7, 7)
    assert events.records(7) == 3 * 7


def test_only_lookups_by_one_unique_column_need_no_secondary_index():
    columns = [
        {"name": "id", "kind": "int", "generator": "key"},
        {"name": "mail", "kind": "varchar(40)", "generator": "email"},
    ]
    table = {"name": "user", "columns": columns, "indexes": [{"columns": ["mail"], "unique": True}]}
    look = {"operation": "find", "table": "user", "column": "mail"}

    def needs(*operations):
        transactions = [{"name": "one", "operations": list(operations)}]
        return OwnWorkload(tables=[table], transactions=transactions).as_workload("mine").operations

    assert needs(look) == ("find-unique",)
    assert needs(look, {"operation": "get", "table": "user"}) == ("find-secondary", "get")


def test_only_transactions_that_all_read_need_a_store_that_knows_these():
    table = {"name": "t", "columns": [{"name": "id", "kind": "int", "generator": "key"}]}

    def needs(*within):
        transactions = [
            {"name": f"t{number}", "within": kind, "operations": [{"operation": "get", "table": "t"}]}
            for number, kind in enumerate(within)
        ]
        return set(OwnWorkload(tables=[table], transactions=transactions).as_workload("mine").operations)

    assert needs(None) == {"get"}
    assert needs("read-only") == needs("read-only", None) == {"get", "transaction", "read-only"}
    assert needs("read-only", "read-write") == {"get", "transaction"}


def test_a_key_and_a_counter_are_counted_up_by_caches_too():
    key = {"name": "id", "kind": "int", "generator": "key"}
    number = {"name": "n", "kind": "bigint", "generator": "counter"}
    more = {"name": "note", "kind": "varchar(9)", "generator": "letters"}
    add = {"operation": "add", "table": "c", "column": "n"}

    def needs(*columns, indexes=(), by=1):
        table = {"name": "c", "columns": list(columns), "indexes": list(indexes)}
        own = OwnWorkload(tables=[table], transactions=[{"name": "one", "operations": [add | {"by": by}]}])
        return own.as_workload("mine").operations

    assert needs(key, number) == ("increment",)
    assert needs(key, number, by=-1) == ("add", "sum")
    assert needs(key, number, more) == needs(key, number, indexes=[{"columns": ["n"]}]) == ("add", "sum")
    assert "increment" in MemcachedServer.operations and "add" not in MemcachedServer.operations


def test_documents_have_no_index_and_a_least_size():
    columns = [
        {"name": "id", "kind": "int", "generator": "key"},
        {"name": "doc", "kind": "json(60)", "generator": "document", "size": 50},
        {"name": "part", "kind": "double", "generator": "number", "below": 3},
        {"name": "line", "kind": "double", "generator": "linear", "first": 0, "step": 1},
    ]
    table = Table(name="t", columns=columns)
    assert [column.value_bytes for column in table.columns] == [4, 50, 8, 8]
    with pytest.raises(ValueError, match="no index can have the documents of 'doc'"):
        Table(name="t", columns=columns, indexes=[{"columns": ["doc"]}])
    with pytest.raises(ValueError, match="'document' needs 40 characters or more"):
        Column(name="doc", kind="json(39)", generator="document")
    with pytest.raises(ValueError, match="'counter' makes numbers, no double"):
        Column(name="n", kind="double", generator="counter")
