"""A list for a key of the experiment file, in one run: real stores, its comparison, its report, and a resumed run."""

import json
import shutil
import tempfile
from pathlib import Path

import pytest

from helpers import need

RUN = ("run", "point-get", "--system", "sqlite", "--clients", "1,2", "--seconds", "1", "--warmup", "0", "--quiet")
FAST = ("--set", "host=false", "--set", "ceiling=false")
ROWS = ("--set", "rows=[100, 2000]")


def run_of(dbdyno):
    return json.loads(dbdyno("show", "last", "--json")[1])


def test_rows_vary_in_one_run(dbdyno):
    assert dbdyno(*RUN, *FAST, *ROWS) == (0, "", "")
    run = run_of(dbdyno)
    assert [(trial["label"], trial["rows"], trial["variant"]) for trial in run["trials"][::2]] == [
        ("sqlite, rows 100", 100, {"rows": "100"}),
        ("sqlite, rows 2k", 2000, {"rows": "2k"}),
    ]
    loaded = [trial["load"]["rows"] for trial in run["trials"][::2]]
    assert loaded == [100, 2000]
    text = dbdyno("show", "last")[1]
    assert "1 system × 2 variants × 2 loads" in text and "sqlite by rows: " in text
    assert "sqlite, rows 100" in text and "sqlite, rows 2k" in text
    report = next(Path("runs").glob("*/report.html")).read_text()
    assert "<h2>Against a varied setting</h2>" in report


def test_variants_are_compared_at_the_same_load_and_that_is_no_foul(dbdyno):
    assert dbdyno(*RUN, *FAST, *ROWS, "--repeat", "2") == (0, "", "")
    document = json.loads(dbdyno("compare", "last", "--json")[1])
    assert sorted(cell["clients"] for cell in document["cells"]) == [1, 2]
    assert {cell["baseline"]["label"] for cell in document["cells"]} == {"sqlite, rows 100"}
    assert document["badges"] == [] and not any("rows" in caution for caution in document["cautions"])


def test_two_systems_are_compared_at_each_size(dbdyno):
    assert dbdyno(*RUN, "--system", "lmdb", *FAST, *ROWS) == (0, "", "")
    document = json.loads(dbdyno("compare", "last", "--json")[1])
    pairs = {(cell["baseline"]["label"], cell["candidate"]["label"], cell["rows"]) for cell in document["cells"]}
    assert pairs == {("sqlite, rows 100", "lmdb, rows 100", 100), ("sqlite, rows 2k", "lmdb, rows 2k", 2000)}
    assert [trial["label"] for trial in run_of(dbdyno)["trials"][::2]] == [
        "sqlite, rows 100",
        "sqlite, rows 2k",
        "lmdb, rows 100",
        "lmdb, rows 2k",
    ]


def test_a_resumed_run_has_the_same_variants(dbdyno):
    assert dbdyno(*RUN, *FAST, *ROWS) == (0, "", "")
    (folder,) = Path("runs").iterdir()
    before = run_of(dbdyno)["trials"]
    last = before[-1]["trial"]
    shutil.rmtree(folder / "trials" / last)
    file = folder / "run.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"state": "interrupted", "reason": "by the user"}))
    status, _, err = dbdyno("run", "--resume", "last", "--quiet")
    assert (status, err) == (0, "")
    after = run_of(dbdyno)["trials"]
    keys = ("trial", "label", "rows", "variant", "state")
    assert [[trial[key] for key in keys] for trial in after] == [[trial[key] for key in keys] for trial in before]


@pytest.fixture
def disks():
    """Two directories that servers can get to whoever they run as, which pytest's own are not."""
    with tempfile.TemporaryDirectory(prefix="disks-") as name:
        Path(name).chmod(0o755)
        for disk in ("a", "b"):
            (Path(name) / disk).mkdir(mode=0o755)
        yield Path(name)


def test_threads_directory_and_settings_of_a_part_vary_together(dbdyno, disks):
    need("redis", "memcached", "mariadb")
    settings = 'settings = { "memcached.memory" = [8, 16] }'
    Path("mine.toml").write_text(
        f"""
workload = "point-get"
rows = 50
clients = 2
seconds = 1
warmup_seconds = 0
host = false
combine = "zip"
load_threads = [1, 2]
data_dir = ["{disks}/a", "{disks}/b"]
system = {{ system = "cache-aside(memcached, mariadb)", {settings} }}
"""
    )
    assert dbdyno("run", "mine.toml", "--quiet") == (0, "", "")
    trials = run_of(dbdyno)["trials"]
    assert [trial["settings"] for trial in trials] == [{"memcached.memory": "8"}, {"memcached.memory": "16"}]
    (folder,) = Path("runs").iterdir()
    hellos = [
        json.loads((folder / "trials" / trial["trial"] / "records.jsonl").read_text().partition("\n")[0])
        for trial in trials
    ]
    assert [hello["threads"] for hello in hellos] == [1, 2]
    # The log names the socket, which lies beside the data.
    logs = [log.read_text() for log in sorted(folder.glob("preparations/*/server-mariadb.log"))]
    assert f"{disks}/a/" in logs[0] and f"{disks}/b/" in logs[1]
    assert not list(disks.glob("*/*"))


def test_a_directory_that_is_not_there_is_refused(dbdyno):
    status, _, err = dbdyno(*RUN, *FAST, "--rows", "9", "--set", 'data_dir=["/tmp", "/nowhere/at/all"]')
    assert status == 2 and "data_dir: /nowhere/at/all is not a directory here" in err
    assert not Path("runs").exists()
