"""Values as large as a store takes are kept, one byte larger they are refused, and nobody else notices.

A limit that no setting brings within reach of a test is not among them (docs/systems.md, "How large a value may be").
"""

import json
import signal

import pytest

from dbdyno.errors import UserError
from dbdyno.systems import SYSTEMS
from dbdyno.systems.embedded.engine import Engine
from systems.load import begin, end, execute, plan_of, until_completed
from systems.marks import each

MIB = 1 << 20
ROWS = 4
ENCODED = 8 + 8 + 2 + 4
"""Bytes of a row in a key-value store beside its value: its key, its version, and a long value's length."""
ITEM = 48 + 8 + len("dbdyno:extreme:1") + 1 + len("\r\n")
"""memcached's header of an item, its CAS number, a key with the byte that ends it, and the end of the value."""
EXECUTE = 1 + 4 + 1 + 4 + 1 + 1 + 3 * 2 + 8 + 4 + 8
"""The update in the MySQL protocol: what a COM_STMT_EXECUTE has before the values, version, long length and key."""
MUTATION = 75
"""Bytes of a row in Cassandra beside its value, as `Rejected an oversized mutation` counts them."""
AT_THE_LIMIT = {
    "redis?proto-max-bulk-len=1048576": MIB - ENCODED,
    "valkey@9.1?proto-max-bulk-len=1048576": MIB - ENCODED,
    "memcached": MIB - ENCODED - ITEM,
    # A packet is shorter than what is allowed.
    "mariadb?max_allowed_packet=1048576": MIB - EXECUTE - 1,
    "mariadb?engine=RocksDB&max_allowed_packet=1048576": MIB - EXECUTE - 1,
    "mysql@5.6?max_allowed_packet=1048576": MIB - EXECUTE - 1,
    "mysql@5.6?max_allowed_packet=1048576&local_infile=OFF": MIB - EXECUTE - 1,
    "mysql@5.5?max_allowed_packet=1048576": MIB - EXECUTE - 1,
    "mysql@5.7?max_allowed_packet=1048576": MIB - EXECUTE - 1,
    "mysql@8.0?max_allowed_packet=1048576": MIB - EXECUTE - 1,
    "mariadb@11.4?max_allowed_packet=1048576": MIB - EXECUTE - 1,
    "galera?max_allowed_packet=1048576": MIB - EXECUTE - 1,
    # Here it may be as long.
    "tidb?max_allowed_packet=1048576": MIB - EXECUTE,
    # No mutation is longer than half a segment of the log.
    "cassandra?heap=512M&commitlog_segment_size=2MiB": MIB - MUTATION,
}
"""Systems whose limit is a mebibyte, of itself or by a setting, and the bytes of the largest value of a row."""
IN_WORDS = (
    "too large",
    "max_allowed_packet",
    "invalid bulk length",
    "Connection reset",
    "Broken pipe",
    "Lost connection",
    "oversized mutation",
)
"""How servers say it; one that closes the connection while it is still sent to is not always heard."""
OUT_OF_REACH = (
    *("postgresql", "sqlite", *(name for name, known in SYSTEMS.items() if issubclass(known, Engine))),
    *(
        "tokyocabinet?type=tree",
        "tkrzw?type=tree",
        "kyotocabinet?type=tree",
        "handlersocket",
        "postgresql@18",
        "ferretdb",
    ),
)
LARGE_BYTES = 2 * MIB
PATIENT = {"duration_s": 300, "operation_timeout_s": 60}
EVERYTHING = ("prepare", "load", "run", "verify", "cleanup")


def put(store, size_bytes, phases, until="completed"):
    """Give the store rows with a value of that size until two transactions ended so; say what became of it."""
    plan = plan_of(None, "extreme-values", list(phases), ROWS, options={"size_bytes": size_bytes}, **PATIENT)
    process, records = begin(store, plan), []
    ended = 0
    for line in process.stdout:
        records.append(json.loads(line))
        ended += records[-1]["transactions"][until] if records[-1]["record"] == "interval" else 0
        if ended > 1:
            process.send_signal(signal.SIGINT)
            break
    return end(process, records)


def started_if_there(started, text):
    try:
        return started(text)
    except UserError as reason:
        if "apt install" in str(reason):
            pytest.skip(str(reason))
        raise


def is_kept(done):
    (total,) = done.of("total")
    assert (done.of("end")[0]["status"], done.errors(), total["mismatches"]) == ("interrupted", set(), 0)
    assert total["reads_verified"] > 0
    assert all(check["ok"] is not False for check in done.of("check"))


@pytest.mark.parametrize("text", each(*AT_THE_LIMIT))
def test_the_largest_value_is_kept_and_one_byte_more_is_refused_while_others_go_on(started, text):
    store, largest = started_if_there(started, text), AT_THE_LIMIT[text]
    is_kept(put(store, largest, EVERYTHING))

    assert execute(store, "point-get", ["prepare", "load"], run_id="another").status == 0
    other, records = begin(store, plan_of(None, "point-get", ["run"], run_id="another", **PATIENT)), []
    try:
        until_completed(other, records)
        loaded = put(store, largest + 1, EVERYTHING, until="failed")
        written = put(store, largest + 1, ("prepare", "run", "cleanup"), until="failed")
        until_completed(other, records)
    finally:
        other.send_signal(signal.SIGINT)
        outcome = end(other, records)

    # Some load by other requests than they write by, whose limit lies elsewhere.
    if not loaded.of("total"):
        assert loaded.status == 1 and any(words in loaded.of("end")[0]["reason"] for words in IN_WORDS)
    for done in (loaded, written)[not loaded.of("total") :]:
        (total,) = done.of("total")
        assert (total["transactions"]["completed"], total["reads_verified"]) == (0, 0)
        assert total["transactions"]["failed"] > 1 and done.errors() <= {"server", "connection"}
    assert any(words in record["message"] for record in written.of("error") for words in IN_WORDS)
    assert outcome.errors() == set() and outcome.of("total")[0]["mismatches"] == 0


@pytest.mark.parametrize("text", each(*OUT_OF_REACH))
def test_a_value_of_two_mebibytes_is_kept_where_the_limit_is_out_of_reach(started, text):
    is_kept(put(started_if_there(started, text), LARGE_BYTES, EVERYTHING))


@pytest.mark.parametrize("text", ["redis", "memcached", "mariadb", "postgresql"])
def test_what_no_message_holds_is_refused_before_anything_is_begun(started, text):
    done = put(started_if_there(started, text), 64 * MIB, EVERYTHING)
    assert done.status == 2 and "at most" in done.of("end")[0]["reason"]
    assert done.of("phase") == []
