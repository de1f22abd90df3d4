"""The same demands on every store, each made of a real server through the real load client.

The requested systems are put through it side by side, once for the module, since most of a case is waiting for
a run's second to end. The workloads together have every logical operation, and one has values that are hard to keep.
`make test` has what is got and started soon, `make test-systems` the others.
"""

import os
import signal
from concurrent.futures import Future, ThreadPoolExecutor

import psutil
import pytest

from dbdyno.conduct.load_client import find_load_client
from dbdyno.errors import RunFailed, UserError
from dbdyno.experiment.system_spec import parse_system
from dbdyno.experiment.workload_spec import missing_operations, parse_workload
from dbdyno.experiment.workloads import DELETE, INCREMENT, PUT, SCAN
from dbdyno.systems import SYSTEMS, missing
from dbdyno.systems.arrangements.cluster import Cluster
from dbdyno.systems.base import Launch
from dbdyno.systems.embedded.engine import Engine
from dbdyno.systems.running.guard import Guard
from helpers import need, system, wait_until
from systems.load import ONE_CLIENT, ROWS, begin, end, execute, plan_of, until_completed
from systems.marks import LARGE_SERVERS, SMALL_VERSIONS, each

ENCRYPTED = ("mariadb?tls=on", "postgresql?tls=on", "redis?tls=on")
BY_OTHER_WAYS = ("mariadb?protocol=text", "mariadb?access=handler")
SPIDER = "mariadb?engine=Spider"
FORGETFUL_ON_SOCKET = ("redis?connect=socket", "memcached?connect=socket")
ON_SOCKET = ("mariadb?connect=socket", "postgresql?connect=socket", *FORGETFUL_ON_SOCKET)
BUILT_BY_HAND = () if missing(parse_system("tokyotyrant")) else ("tokyotyrant",)
"""Servers that no registry has, on a host that has them."""
SERVERS = (
    *("mariadb", "handlersocket", "postgresql", "redis", "memcached", *BUILT_BY_HAND),
    *(*SMALL_VERSIONS, *ENCRYPTED, *ON_SOCKET, *BY_OTHER_WAYS, SPIDER, *LARGE_SERVERS),
)
IN_SETTINGS = (
    *("rocksdb", "rocksdb?sync=none&wal=off&compression=none"),
    *("tokyocabinet", "tokyocabinet?type=tree&sync=transaction&compression=deflate"),
    *("kyotocabinet?sync=none&compression=zlib", "kyotocabinet?type=tree&sync=transaction"),
    *("tkrzw?file=positional", "tkrzw?type=tree&sync=none&compression=zlib"),
)
"""Embedded engines in the settings that differ most."""
AS_THEY_ARE = tuple(
    name
    for name, known in SYSTEMS.items()
    if issubclass(known, Engine) and name not in {text.split("?")[0] for text in IN_SETTINGS}
)
"""The other engines: a new one is put through it without a line here."""
ENGINES = ("mariadb?engine=RocksDB", "mariadb?engine=MyISAM", "mariadb?engine=Aria", "mariadb?engine=Mroonga")
STORES = (*SERVERS, *ENGINES, "sqlite", *IN_SETTINGS, *AS_THEY_ARE, "cache-aside(memcached, postgresql)")
IN_WORDS = ("denied", "authentication failed", "incorrect", "WRONGPASS", "unauth")
"""How servers say that a password is wrong."""
FERRETDB = ("ferretdb", "ferretdb?backend=postgresql")
WITHOUT_PASSWORDS = ("memcached", "memcached?connect=socket", *FERRETDB, *BUILT_BY_HAND)
CASES = {
    "game": {},
    "secondary-get": {},
    "point-update": {},
    "batch-get": {},
    "insert-indexes": {},
    "trx-lifecycle": {"transaction": "read-write"},
}
"""Workloads with their options, that together have every logical operation but SQL of their own."""
COME_AND_GO = {"put": PUT, "delete": DELETE, "scan": SCAN, "add": INCREMENT}
"""Operations of an own workload that not every store can do, and their names."""
PATIENT = {"duration_s": 2, "operation_timeout_s": 60}
"""On a busy host a flush can take longer than a second, and all systems flush at once here."""
ALL_PHASES = ("prepare", "load", "run", "verify", "cleanup")
CRASH = {f"postgresql{how}": signal.SIGQUIT for how in ("", "?tls=on", "?connect=socket")}
"""How a server is killed, if not by SIGKILL: after that PostgreSQL leaves shared memory behind, in no directory."""
REVIVED = ("handlersocket", "galera", SPIDER, *ENCRYPTED, *ON_SOCKET)
"""Servers started again with what they have: while HandlerSocket has a table open, none of that name is made; a
node of a cluster is given what the others have; another server would have a certificate that clients do not trust, or
its socket elsewhere; Spider's backends go on running."""
FORGETFUL = ("redis?tls=on", *FORGETFUL_ON_SOCKET)
"""Those of them that have nothing left of what was in memory."""
LOSES_ADDITIONS = (*FERRETDB, "mariadb?engine=Mroonga")
"""Servers that lose additions to one row which several clients make at once, as docs/systems/ferretdb.md says."""
UNCOUNTED = ("memcached", "memcached?connect=socket")
"""Stores that cannot say how many rows they have."""
WITHOUT_JSON = ("mysql@5.5", "mysql@5.6")
"""Servers without a type for documents."""
TEARS_ROWS = ("mariadb?engine=Mroonga",)
"""Servers whose readers can see a row that another client is replacing, as docs/systems/mariadb.md says."""

# The first test waits for all systems.
pytestmark = pytest.mark.timeout(1200)


def after_a_crash(text, store, launch):
    """Kill the server under load; start another in its place; the same clients must go on there."""
    process, records = begin(store, plan_of(None, "point-get", ["run"], duration_s=300)), []
    until_completed(process, records)
    # Spider's is the server that clients are connected with.
    dead = store.nodes[text != SPIDER] if isinstance(store, Cluster) else store
    dead._server._process.send_signal(CRASH.get(text, signal.SIGKILL))
    dead._server._process.wait()
    assert "was killed by" in store.death() or text in CRASH
    other = revived(text, dead) if text in REVIVED else replaced(text, store, launch)
    try:
        until_completed(process, records)
    finally:
        process.send_signal(signal.SIGINT)
        outcome = end(process, records)
        other.stop()
    return outcome


def revived(text, store):
    """Start the server that was killed again, with all that it has on disk; load it where that is nothing."""
    store._server.stop()
    store._server = store._run()
    store._server.wait_ready(store._answers)
    if text in FORGETFUL:
        assert execute(store, "point-get", ["prepare", "load"]).status == 0
    return store


def replaced(text, store, launch):
    """Start a new server at the port of the one that was killed, and load it."""
    store.stop()
    other, port = system(text), store.endpoint.port
    other.new_port = lambda *address: port
    try:
        other.start(launch)
        assert execute(other, "point-get", ["prepare", "load"]).status == 0
    except BaseException:
        other.stop()
        raise
    return other


def coming_and_going(verbs, *, has_documents):
    """Return the options of a workload that reads rows and does these operations on them."""
    columns = [
        {"name": "id", "kind": "int", "generator": "key"},
        {"name": "version", "kind": "int", "generator": "version"},
        {"name": "note", "kind": "varchar(40)", "generator": "versioned-letters"},
        {"name": "at", "kind": "datetime", "generator": "linear", "first": 951_782_399, "step": 86_401},
        {"name": "word", "kind": "unicode(9)", "generator": "characters"},
        {
            "name": "picture",
            "kind": "binary(300)",
            "generator": "bytes",
            "size": {"kind": "uniform", "from": 0, "to": 300},
        },
        {"name": "price", "kind": "decimal(9,2)", "generator": "number", "below": 100_000},
        {"name": "part", "kind": "double", "generator": "number", "below": 1000},
        {"name": "line", "kind": "double", "generator": "linear", "first": -1, "step": 3},
    ]
    if has_documents:
        columns.append({"name": "document", "kind": "json(90)", "generator": "document"})
    more = {"scan": {"length": 5}, "add": {"table": "counter", "column": "n"}}
    operations = [{"operation": verb, "table": "thing"} | more.get(verb, {}) for verb in verbs]
    transactions = [{"name": of["operation"], "weight": 1, "operations": [of]} for of in operations]
    tables = [{"name": "thing", "columns": columns}]
    if "add" in verbs:
        counter = [columns[0], {"name": "n", "kind": "bigint", "generator": "counter"}]
        tables.append({"name": "counter", "columns": counter})
    reads = [{"operation": "get", "table": table["name"]} for table in tables]
    read = {"name": "read", "weight": 1, "operations": reads}
    return {"declaration": {"tables": tables, "transactions": [read, *transactions]}}


def put_through(text, launch):
    """Return the outcome of every case; the system is stopped after it."""
    store, outcomes_by_case = system(text), {}
    try:
        store.start(launch)
        directories = store.data_directories()
        for workload, options in CASES.items():
            alone = ONE_CLIENT if workload == "point-update" and text in LOSES_ADDITIONS else {}
            outcomes_by_case[workload] = execute(store, workload, ALL_PHASES, options=options, **PATIENT, **alone)
        has_documents = text not in WITHOUT_JSON
        can = [verb for verb, operation in COME_AND_GO.items() if operation in store.operations]
        alone = ONE_CLIENT if text in (*TEARS_ROWS, *LOSES_ADDITIONS) else {}
        if "delete" in can:
            options = coming_and_going(["delete"], has_documents=has_documents)
            outcomes_by_case["delete"] = execute(store, "declared", ALL_PHASES, options=options, **PATIENT | alone)
        options = coming_and_going(can, has_documents=has_documents)
        outcomes_by_case["come and go"] = with_every_operation(
            lambda more: execute(store, "declared", ALL_PHASES, options=options, **PATIENT | more, **alone)
        )
        cannot = {verb: coming_and_going([verb], has_documents=False) for verb in COME_AND_GO if verb not in can}
        outcomes_by_case["cannot"] = {
            verb: execute(store, "declared", ["prepare", "cleanup"], options=options)
            for verb, options in cannot.items()
        }
        outcomes_by_case["extreme values"] = execute(store, "extreme-values", ALL_PHASES, **PATIENT)
        assert execute(store, "point-get", ["prepare", "load"]).status == 0
        outcomes_by_case["missing rows"] = execute(store, "point-get", ["run"], 2 * ROWS, **PATIENT)
        if text in SERVERS:
            outcomes_by_case["wrong password"] = execute(store, "point-get", ["run"], secrets=["wrong"] * 9)
            outcomes_by_case["crash"] = after_a_crash(text, store, launch)
    finally:
        store.stop()
    outcomes_by_case["left behind"] = left_behind(directories)
    return outcomes_by_case


def with_every_operation(run):
    """Return the first outcome in which every operation was done: a full host may do a dozen in two seconds, if a store
    flushes each. run: takes what differs in its plan."""
    for seconds in (PATIENT["duration_s"], 10, 40):
        done = run({"duration_s": seconds})
        operations = [operation for total in done.of("total") for operation in total["operations"].values()]
        if done.status != 0 or all(operation["completed"] for operation in operations):
            break
    return done


def left_behind(directories):
    """Return which directories are left of a system that was stopped, once nobody runs there; sockets lie in them."""
    places = tuple(map(str, directories))
    wait_until(lambda: not running_in(places))
    return [str(directory) for directory in directories if directory.exists()]


def running_in(places):
    processes = psutil.process_iter(["cwd"])
    return [process.pid for process in processes if (process.info["cwd"] or "").startswith(places)]


@pytest.fixture(scope="module")
def outcomes(request, tmp_path_factory):
    """The outcome of every case, by store, for the stores that a test is to be run of."""
    items = (item for item in request.session.items if item.module is request.module)
    wanted = dict.fromkeys(item.callspec.params["text"] for item in items)
    try:
        find_load_client()
    except (RunFailed, UserError) as reason:
        pytest.skip(str(reason))
    patch = pytest.MonkeyPatch()
    # A server that takes another's place must know the same password.
    patch.setattr("secrets.token_hex", lambda size: "ab" * size)
    by_store: dict[str, Future] = {}
    with Guard() as guard, ThreadPoolExecutor(len(wanted)) as pool:
        for text in wanted:
            if not missing(parse_system(text)):
                launch = Launch(guard, tmp_path_factory.mktemp("store"), clients=8, rows=2 * ROWS)
                by_store[text] = pool.submit(put_through, text, launch)
    patch.undo()
    return by_store


@pytest.fixture
def outcome(outcomes):
    def of(text, case):
        spec = parse_system(text)
        need(*(part.product for part in spec.parts or (spec,)))
        try:
            return outcomes[text].result()[case]
        except UserError as reason:
            if text in (SPIDER, *ENGINES) and "apt install" in str(reason) and os.environ.get("CI") != "true":
                pytest.skip(str(reason))
            raise

    return of


@pytest.mark.parametrize("workload", CASES)
@pytest.mark.parametrize("text", each(*STORES))
def test_every_operation_is_done_and_verified_or_declared_impossible(outcome, text, workload):
    done = outcome(text, workload)
    (last,) = done.of("end")
    if missing_operations(parse_workload(workload, {}, {}), system(text).operations):
        # The load client does not know what an engine cannot do: the experiment is refused before it starts.
        assert text in ENGINES or (done.status == 2 and "cannot do the step" in last["reason"])
        return
    assert (done.status, last["status"]) == (0, "complete"), last
    (total,) = done.of("total")
    assert total["transactions"]["completed"] > 0 and total["transactions"]["failed"] == total["mismatches"] == 0
    assert workload in ("point-update", "insert-indexes") or total["reads_verified"] > 0
    checks = done.of("check")
    assert checks and all(check["ok"] is not False for check in checks)
    assert workload != "point-update" or checks[-1]["found"] > 0


@pytest.mark.parametrize("text", each(*STORES))
def test_rows_are_put_deleted_and_scanned_or_that_is_refused_before_the_start(outcome, text):
    done = outcome(text, "come and go")
    assert done.status == 0, done.of("end")
    (total,) = done.of("total")
    assert all(operation["completed"] for operation in total["operations"].values()), total
    assert total["transactions"]["failed"] == total["mismatches"] == 0 and total["reads_verified"] > 0
    assert all(check["ok"] is not False for check in done.of("check"))
    for verb, refused in outcome(text, "cannot").items():
        reason = refused.of("end")[0]["reason"]
        # The load client does not know what an engine cannot do: the experiment is refused before it starts.
        assert text in ENGINES or (refused.status == 2 and f"cannot do the step {verb}_" in reason)


@pytest.mark.parametrize("text", each(*STORES))
def test_deletions_are_counted_or_said_to_be_unknown(outcome, text):
    if DELETE not in system(text).operations:
        return
    done = outcome(text, "delete")
    assert done.status == 0 and done.of("total")[0]["operations"]["delete"]["completed"], done.of("end")
    (grown,) = (check for check in done.of("check") if check["name"] == "rows added to thing")
    if text in UNCOUNTED:
        assert (grown["found"], grown["ok"], grown["note"]) == (None, None, "this store cannot tell")
        return
    assert grown["found"] < 0
    if text.startswith("cassandra"):
        assert grown["ok"] is None and "does not say whether the row was there" in grown["note"]
    else:
        assert grown["ok"] is True, grown


@pytest.mark.parametrize("text", each(*STORES))
def test_every_character_every_byte_and_the_largest_value_come_back_as_they_were_stored(outcome, text):
    done = outcome(text, "extreme values")
    assert done.status == 0, done.of("end")
    (total,) = done.of("total")
    assert total["reads_verified"] > 0 and total["transactions"]["failed"] == total["mismatches"] == 0
    assert all(check["ok"] is not False for check in done.of("check"))


@pytest.mark.parametrize("text", each(*STORES))
def test_rows_that_are_not_there_are_missing_and_nothing_else_is_wrong(outcome, text):
    done = outcome(text, "missing rows")
    (total,) = done.of("total")
    assert done.errors() == {"missing"} and total["reads_verified"] > 0 and total["mismatches"] == 0


@pytest.mark.parametrize("text", each(*(text for text in SERVERS if text not in WITHOUT_PASSWORDS)))
def test_a_wrong_password_ends_it_in_the_servers_words_without_the_password(outcome, text):
    done = outcome(text, "wrong password")
    (last,) = done.of("end")
    assert (done.status, last["status"]) == (1, "failed")
    assert any(word in last["reason"] for word in IN_WORDS)
    assert "abab" not in last["reason"]


@pytest.mark.parametrize("text", each(*SERVERS))
def test_after_a_crash_clients_go_on_where_a_server_is_again(outcome, text):
    done = outcome(text, "crash")
    assert done.of("end")[0]["status"] == "interrupted"
    completed = [interval["transactions"]["completed"] > 0 for interval in done.of("interval")]
    assert completed[0] and any(completed[1:])
    assert done.errors() & {"connection", "connect"} and "mismatch" not in done.errors()
    total = done.of("total")[0]["transactions"]
    assert total["scheduled"] == total["completed"] + total["failed"] + total["unfinished"]


@pytest.mark.parametrize("text", each(*STORES))
def test_stopped_it_leaves_no_process_no_socket_and_no_directory(outcome, text):
    assert outcome(text, "left behind") == []
