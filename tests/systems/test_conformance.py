"""The same demands on every store, each made of a real server through the real load client.

All systems are put through it side by side, once for the module, since most of a case is waiting for a run's second to
end. The workloads together have every logical operation, and one has the values that are hard to keep.
"""

import json
import os
import signal
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from dbdyno.conduct.load_client import find_load_client
from dbdyno.errors import RunFailed, UserError
from dbdyno.experiment.system_spec import parse_system
from dbdyno.experiment.workloads import WORKLOADS, missing_operations
from dbdyno.systems import missing
from dbdyno.systems.base import Launch
from dbdyno.systems.guard import Guard
from helpers import need, system
from systems.load import ROWS, begin, end, execute, plan_of

SERVERS = ("mariadb", "handlersocket", "postgresql", "redis", "valkey@9.1", "memcached")
LIBRARIES = (
    *("rocksdb", "rocksdb?sync=none&wal=off&compression=none"),
    *("tokyocabinet", "tokyocabinet?type=tree&sync=transaction&compression=deflate"),
    *("kyotocabinet?sync=none&compression=zlib", "kyotocabinet?type=tree&sync=transaction"),
    *("tkrzw?file=positional", "tkrzw?type=tree&sync=none&compression=zlib"),
)
ENGINES = ("mariadb?engine=RocksDB", "mariadb?engine=MyISAM", "mariadb?engine=Aria")
STORES = (*SERVERS, *ENGINES, "sqlite", "lmdb", *LIBRARIES, "cache-aside(memcached, postgresql)")
CASES = ("game", "secondary-get", "point-update")
"""Workloads that together have every logical operation."""
CRASH = {"postgresql": signal.SIGQUIT}
"""How a server is killed, if not by SIGKILL: after that PostgreSQL leaves shared memory behind, in no directory."""
REVIVED = ("handlersocket",)
"""Servers whose clients must find the table there: while HandlerSocket is asked for one, none of that name is made."""


def until_completed(process, records):
    """Read records up to an interval in which something was completed."""
    for line in process.stdout:
        records.append(json.loads(line))
        if records[-1]["record"] == "interval" and records[-1]["transactions"]["completed"]:
            return


def after_a_crash(text, one, launch):
    """Kill the server under load; start another in its place; the same clients must go on there."""
    process, records = begin(one, plan_of(None, "point-get", ["run"], duration_s=60)), []
    until_completed(process, records)
    one._server._process.send_signal(CRASH.get(text, signal.SIGKILL))
    one._server._process.wait()
    other = revived(one) if text in REVIVED else replaced(text, one, launch)
    try:
        until_completed(process, records)
    finally:
        process.send_signal(signal.SIGINT)
        outcome = end(process, records)
        other.stop()
    return outcome


def revived(one):
    """Start the server that was killed again, with all that it has on disk."""
    one._server.stop()
    one._server = one._run()
    one._server.wait_ready(one._answers)
    return one


def replaced(text, one, launch):
    """Start a new server at the port of the one that was killed, and load it."""
    one.stop()
    other = system(f"{text}?port={one.endpoint.port}")
    try:
        other.start(launch)
        assert execute(other, "point-get", ["prepare", "load"]).status == 0
    except BaseException:
        other.stop()
        raise
    return other


def put_through(text, launch):
    """Return the outcome of every case; the system is stopped after it."""
    one, found = system(text), {}
    try:
        one.start(launch)
        for workload in CASES:
            found[workload] = execute(one, workload, ["prepare", "load", "run", "verify", "cleanup"])
        found["extreme values"] = execute(one, "extreme-values", ["prepare", "load", "run", "verify", "cleanup"])
        assert execute(one, "point-get", ["prepare", "load"]).status == 0
        found["missing rows"] = execute(one, "point-get", ["run"], 2 * ROWS)
        if text in SERVERS:
            found["wrong password"] = execute(one, "point-get", ["run"], secrets=["wrong", "wrong"])
            found["crash"] = after_a_crash(text, one, launch)
    finally:
        one.stop()
    return found


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """What became of every case, by store."""
    try:
        find_load_client()
    except (RunFailed, UserError) as reason:
        pytest.skip(str(reason))
    patch = pytest.MonkeyPatch()
    # A server that takes another's place must know the same password.
    patch.setattr("secrets.token_hex", lambda size: "ab" * size)
    found: dict[str, Future] = {}
    with Guard() as guard, ThreadPoolExecutor(len(STORES)) as pool:
        for text in STORES:
            if not missing(parse_system(text)):
                launch = Launch(guard, tmp_path_factory.mktemp("store"), clients=8, rows=2 * ROWS)
                found[text] = pool.submit(put_through, text, launch)
    patch.undo()
    return found


@pytest.fixture
def outcome(outcomes):
    def of(text, case):
        spec = parse_system(text)
        if not spec.version:
            need(*(part.name for part in spec.parts or (spec,)))
        elif reason := missing(spec):
            pytest.skip(reason)
        try:
            return outcomes[text].result()[case]
        except UserError as reason:
            if text in ENGINES and "apt install" in str(reason) and os.environ.get("CI") != "true":
                pytest.skip(str(reason))
            raise

    return of


@pytest.mark.parametrize("workload", CASES)
@pytest.mark.parametrize("text", STORES)
def test_every_operation_is_done_and_verified_or_declared_impossible(outcome, text, workload):
    done = outcome(text, workload)
    (last,) = done.of("end")
    if missing_operations(WORKLOADS[workload], system(text).operations):
        assert (done.status, last["status"]) == (2, "refused") and "cannot do the step" in last["reason"]
        return
    assert (done.status, last["status"]) == (0, "complete")
    (total,) = done.of("total")
    assert total["transactions"]["completed"] > 0 and total["transactions"]["failed"] == total["mismatches"] == 0
    assert workload == "point-update" or total["reads_verified"] > 0
    checks = done.of("check")
    assert checks and all(check["ok"] is not False for check in checks)
    assert workload != "point-update" or checks[-1]["found"] > 0


@pytest.mark.parametrize("text", STORES)
def test_every_character_every_byte_and_the_largest_value_come_back_as_they_were_stored(outcome, text):
    done = outcome(text, "extreme values")
    assert done.status == 0, done.of("end")
    (total,) = done.of("total")
    assert total["reads_verified"] > 0 and total["transactions"]["failed"] == total["mismatches"] == 0
    assert all(check["ok"] is not False for check in done.of("check"))


@pytest.mark.parametrize("text", STORES)
def test_rows_that_are_not_there_are_missing_and_nothing_else_is_wrong(outcome, text):
    done = outcome(text, "missing rows")
    (total,) = done.of("total")
    assert done.errors() == {"missing"} and total["reads_verified"] > 0 and total["mismatches"] == 0


@pytest.mark.parametrize("text", [text for text in SERVERS if text != "memcached"])
def test_a_wrong_password_ends_it_in_the_servers_words_without_the_password(outcome, text):
    done = outcome(text, "wrong password")
    (last,) = done.of("end")
    assert (done.status, last["status"]) == (1, "failed")
    assert any(word in last["reason"] for word in ("denied", "authentication failed", "WRONGPASS", "unauth"))
    assert "abab" not in last["reason"]


@pytest.mark.parametrize("text", SERVERS)
def test_after_a_crash_clients_go_on_where_a_server_is_again(outcome, text):
    done = outcome(text, "crash")
    assert done.of("end")[0]["status"] == "interrupted"
    completed = [interval["transactions"]["completed"] > 0 for interval in done.of("interval")]
    assert completed[0] and any(completed[1:])
    assert done.errors() & {"connection", "connect"} and "mismatch" not in done.errors()
    total = done.of("total")[0]["transactions"]
    assert total["scheduled"] == total["completed"] + total["failed"] + total["unfinished"]
