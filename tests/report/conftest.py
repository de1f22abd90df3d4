"""A run with something of everything a report must show."""

import pytest

from dbdyno.report.document import document
from dbdyno.results.read import read_run
from synthetic_run import SYSTEMS, System, write_run

HOSTILE = System(
    system="mariadb?sql_mode=</script><script>alert(1)</script>",
    durability="D2",
    reason="<img src=x onerror=alert(2)>",
    base_us=900,
    peak_per_s=9_000,
    servers=(("mariadb", "10.11 <i>&amp;"),),
    settings=(("sql_mode", "</script><!--<b>"),),
    attached=True,
)
FAULTS = {
    ("sqlite", 4): "mismatch",
    ("lmdb", 4): "killed",
    ("mariadb", 4): "server-died",
    ("redis", 4): "outage",
    ("redis", 1): "not-reached",
}


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "everything"
    return read_run(write_run(folder, (*SYSTEMS, HOSTILE), clients=(1, 2, 4), seconds=12, faults=FAULTS))


@pytest.fixture(scope="session")
def run_document(run):
    return document(run)


@pytest.fixture(scope="session")
def opened(tmp_path_factory):
    """An open loop at two rates, of which the second is more than one of the systems can do."""
    folder = tmp_path_factory.mktemp("runs") / "opened"
    return document(read_run(write_run(folder, SYSTEMS[1:3], clients=(4, 8), seconds=12, rates=(2000, 20_000))))


@pytest.fixture(scope="session")
def limited(tmp_path_factory):
    """A run whose figures at 8 clients are as high as the client's own."""
    folder = tmp_path_factory.mktemp("runs") / "limited"
    faults = {("mariadb", 8): "client-limited"}
    return document(read_run(write_run(folder, SYSTEMS[2:3], clients=(4, 8), seconds=3, faults=faults)))


@pytest.fixture(scope="session")
def settled(tmp_path_factory):
    """A trial that does half for 40 seconds, and whose warm-up is to be found."""
    folder = tmp_path_factory.mktemp("runs") / "settled"
    faults = {("mariadb", 4): "slow-start"}
    return document(read_run(write_run(folder, SYSTEMS[2:3], clients=(4,), seconds=120, faults=faults)))


@pytest.fixture(scope="session")
def plain(tmp_path_factory):
    """A run in which nothing went wrong, of one system and two repetitions."""
    folder = tmp_path_factory.mktemp("runs") / "plain"
    return read_run(write_run(folder, SYSTEMS[2:3], clients=(1, 2), seconds=3, repeats=2))


@pytest.fixture(scope="session")
def hiccups(tmp_path_factory):
    """A store that stalls for 20 ms ten times a second and once for 212 ms, beside one without recorded gaps."""
    folder = tmp_path_factory.mktemp("runs") / "hiccups"
    faults = {("redis", 8): "hiccups"}
    return document(read_run(write_run(folder, SYSTEMS[3:], clients=(8,), seconds=12, faults=faults)))
