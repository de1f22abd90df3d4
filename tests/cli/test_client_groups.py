"""Groups of clients, think time and short connections on real stores: all is right, and each stands apart."""

import json
import re
from pathlib import Path

import pytest

from dbdyno.systems.base import Launch
from dbdyno.systems.running.guard import Guard
from helpers import need, system
from systems.load import ONE_CLIENT, ROWS, execute

EXAMPLE = str(Path(__file__).parents[2] / "examples" / "writer-and-readers.toml")
SMALL = ("--rows", "200", "--warmup", "0", "--quiet", "--no-observe")
ALONE = (*SMALL, "--set", "ceiling=false", "--set", "host=false")


def trials(dbdyno, *arguments, seconds=2):
    """Run, and return what is said of each trial, none of which may have an error."""
    assert dbdyno("run", *arguments, "--seconds", str(seconds), *ALONE) == (0, "", "")
    run = json.loads(dbdyno("show", "last", "--json")[1])
    assert all(trial["errors"] == 0 and trial["transactions"] > 0 for trial in run["trials"])
    return run["trials"]


@pytest.mark.parametrize("store", ["mariadb", "postgresql", "sqlite"])
def test_a_writer_with_a_rate_and_readers_stand_apart_on_the_same_tables(store, dbdyno):
    need(store)
    # The readers begin in the second second: a busy host may need one before they have read anything.
    both = trials(dbdyno, EXAMPLE, "--system", store, seconds=5)
    assert [trial["workload"] for trial in both] == ["event-log?writer_rate=100", "event-log?writer_rate=500"]
    for trial, rate in zip(both, (100, 500), strict=True):
        writer, readers = trial["client_groups"]
        assert (writer["name"], writer["offered_per_s"], writer["rate"]["per_s"]) == ("writer", rate, rate)
        assert (readers["clients"], readers["start_s"], readers["offered_per_s"]) == (8, 1, None)
        assert trial["operations"]["insert_event"]["count"] == writer["count"] > 0
        assert trial["operations"]["range"]["count"] + trial["operations"]["severe"]["count"] >= readers["count"] > 0
        assert trial["transactions"] == writer["count"] + readers["count"]
        assert "response_time_us" in writer and "response_time_us" not in readers
        # As many rows came as were acknowledged.
        assert all(check["ok"] for check in trial["checks"]) and trial["checks"]
    (report,) = Path("runs").glob("*/report.html")
    assert "Groups of clients" in report.read_text()
    for details in ((), ("--details",)):
        assert re.search(r"writer +1 ", dbdyno("show", "last", *details)[1])


def test_the_insert_benchmark_writes_at_its_rates_beside_its_queries(dbdyno):
    all_trials = trials(dbdyno, "insert-benchmark", "--system", "sqlite")
    for trial, rate in zip(all_trials, (200, 1000, 2000) * 2, strict=True):
        writers, readers = trial["client_groups"]
        assert (writers["offered_per_s"], readers["rate"]) == (rate, None)
        counts = {name: operation["count"] for name, operation in trial["operations"].items()}
        inserted, deleted = counts["insert_purchases"], counts["delete_purchases"]
        assert inserted + deleted == writers["count"]
        # Drawn with equal weights: within four standard deviations.
        assert abs(inserted - deleted) <= 4 * writers["count"] ** 0.5 + 1
        queries = ("market", "register", "pdc") if "qr" in trial["workload"] else ("get_purchases",)
        assert sum(counts[name] for name in queries) // 3 in range(readers["count"], readers["count"] + 2)


def test_a_rate_that_a_store_cannot_follow_is_marked(dbdyno):
    (trial,) = trials(dbdyno, *_point_get("rate = 9_000_000\nnumber = 2\n"))
    (group,) = trial["client_groups"]
    assert group["followed"] is False and group["never_begun"] > 0
    assert any(warning.startswith("clients 'all' missed their rate") for warning in trial["warnings"])
    assert "missed" in dbdyno("show", "last")[1]


@pytest.mark.parametrize("store", ["sqlite", "lmdb", "redis", "memcached", "mariadb", "postgresql"])
def test_clients_open_a_connection_after_every_few_transactions(store, dbdyno):
    need(store)
    more = ("--set", "transactions_per_connection=3", "--set", 'think_time="1ms"')
    (trial,) = trials(dbdyno, "point-get", "--system", store, "--clients", "4", *more)
    connect = trial["operations"]["connect"]
    assert 0 < connect["count"] <= trial["transactions"] / 3 + 4
    assert trial["pace"] == {"think_time": "1,000 µs", "transactions_per_connection": 3}
    assert trial["mismatches"] == 0 and trial["warnings"] == []


def test_servers_are_told_that_a_client_leaves(tmp_path):
    need("mariadb")
    store = system("mariadb")
    with Guard() as guard:
        store.start(Launch(guard, tmp_path, clients=4, rows=ROWS))
        more = {"transactions_per_connection": 1, **ONE_CLIENT}
        done = execute(store, "point-get", ["prepare", "load", "run", "cleanup"], **more)
        status = dict(store._query("SHOW GLOBAL STATUS"))
        store.stop()
    assert (done.status, done.errors()) == (0, set())
    (total,) = done.of("total")
    # The connection of the run's end, and those of the other phases, are closed without a word.
    assert int(status["Aborted_clients"]) < 20 < total["operations"]["connect"]["completed"]


def _point_get(group):
    Path("mine.toml").write_text(
        'workload = "point-get"\nsystem = "sqlite"\nrows = 9\nseconds = 1\n[[clients]]\nname = "all"\n' + group
    )
    return ("mine.toml",)
