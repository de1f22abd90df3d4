"""SQLite's plan and what its pragmas promise."""

import subprocess
import sys
from pathlib import Path

import pytest

from dbdyno.systems.embedded.sqlite import durability_of
from helpers import system
from systems.load import execute


def test_the_plan_has_the_file_and_the_pragmas(launch):
    sqlite = system("sqlite?synchronous=normal&mmap_size_bytes=4096")
    sqlite.start(launch)
    plan = sqlite.store_plan([])
    assert plan == {
        "kind": "sqlite",
        "path": str(sqlite.path / "dbdyno.sqlite"),
        "journal_mode": "wal",
        "synchronous": "normal",
        "cache_size_kib": 2000,
        "mmap_size_bytes": 4096,
    }
    assert sqlite.durability().level == "D1"
    sqlite.stop()


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("mmap_size_bytes=1000000000000000", "mmap_size = 1000000000000000 was given, and SQLite has"),
        ("cache_size_kib=3000000000", "cache_size = -3000000000 was given, and SQLite has 0"),
    ],
)
def test_a_pragma_it_does_not_take_is_an_error(launch, setting, said):
    sqlite = system(f"sqlite?{setting}")
    sqlite.start(launch)
    (last,) = execute(sqlite, "point-get", ["prepare"]).of("end")
    sqlite.stop()
    assert said in last["reason"]


@pytest.mark.parametrize("synchronous", ["full", "extra", "normal", "off"])
@pytest.mark.parametrize("journal_mode", ["wal", "delete", "truncate", "persist", "memory", "off"])
def test_every_pragma_it_can_be_given_is_taken(launch, journal_mode, synchronous):
    sqlite = system(f"sqlite?journal_mode={journal_mode}&synchronous={synchronous}")
    sqlite.start(launch)
    done = execute(sqlite, "point-get", ["prepare"])
    sqlite.stop()
    assert done.status == 0, done.of("end")


@pytest.mark.parametrize(
    ("journal_mode", "synchronous", "level"),
    [
        ("wal", "full", "D2"),
        ("delete", "extra", "D2"),
        ("wal", "normal", "D1"),
        ("wal", "off", "D0"),
        ("memory", "full", "D0"),
        ("off", "full", "D0"),
    ],
)
def test_durability(journal_mode, synchronous, level):
    assert durability_of(journal_mode, synchronous).level == level


TESTS = Path(__file__).parents[2]
WITHOUT_SQLITE = """
import sys

sys.modules["_sqlite3"] = None
sys.path.append(sys.argv[1])
from dbdyno.errors import UserError
from helpers import system

sqlite = system("sqlite")
print(sqlite.missing())
for use in (sqlite.analyst, lambda: sqlite.copier("sql", 1)):
    try:
        use()
    except UserError as error:
        print(error)
"""


def test_a_python_without_sqlite_runs_the_load_and_refuses_what_needs_its_module():
    command = [sys.executable, "-c", WITHOUT_SQLITE, TESTS]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    refused = "sqlite: this Python was built without its module sqlite3, which this workload needs"
    assert printed.splitlines() == ["None", refused, refused]
