"""`dbdyno export`: to standard output or a file, of one run or several."""

import csv
import io
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from pyarrow import parquet

from dbdyno.export.names import TABLES_OF


def test_csv_goes_to_standard_output(finished):
    status, out, err = finished("export", "last", "--format", "csv")
    (row,) = csv.DictReader(io.StringIO(out))
    assert (status, err) == (0, "")
    assert (row["system"], row["clients"], row["throughput_per_s"]) == ("fake", "1", "1000.0")


def test_seconds_are_asked_for_by_name(finished):
    _, out, _ = finished("export", "last", "--format", "csv", "--table", "seconds")
    assert [row["warmup"] for row in csv.DictReader(io.StringIO(out))] == ["true", "false"]


def test_a_file_is_written_whole(finished):
    status, out, err = finished("export", "last", "--format", "parquet", "--output", "trials.parquet")
    assert (status, out, err) == (0, "", "")
    assert parquet.read_table("trials.parquet")["throughput_per_s"].to_pylist() == [1000.0]
    assert [path.name for path in Path().iterdir() if path.name != "runs"] == ["trials.parquet"]


def test_several_runs_are_one_file(finished):
    status, out, _ = finished("export", "last", "last", "--format", "junit")
    assert status == 0 and len(ElementTree.fromstring(out)) == 2


def test_what_cannot_be_done_is_refused(finished):
    refused = {
        ("--format", "parquet"): "give a file with --output",
        ("--format", "junit", "--table", "seconds"): "junit has no tables",
        ("--format", "xlsx"): "'xlsx' is not one of",
        (): "give --format: one of csv",
        ("--format", "csv", "--output", "gone/x.csv"): "gone/x.csv: cannot be written",
    }
    for options, says in refused.items():
        status, out, err = finished("export", "last", *options)
        assert (status, out) == (2, "") and says in err and len(err.splitlines()) <= 2


def test_what_is_left_out_is_said_beside_it(finished):
    finished("run", "game", "--system", "fake", "--clients", "1,2", "--seconds", "1", "--rows", "10", "--out", "more")
    (more,) = Path("more").iterdir()
    status, out, err = finished("export", "last", str(more), "--format", "otava")
    assert status == 0 and len(out.splitlines()) == 3
    assert err.startswith("dbdyno: left out, as not every run has it: fake game c2")


def test_a_folder_that_is_no_run_is_refused(dbdyno, tmp_path):
    status, _, err = dbdyno("export", str(tmp_path), "--format", "csv")
    assert status == 2 and "is not a run" in err


@pytest.mark.parametrize(
    ("file", "key"), [("run.json", "started_unix_s"), ("trial.json", "clients"), ("records.jsonl", "completed")]
)
def test_a_figure_that_dbdyno_never_writes_is_told_in_a_line(finished, file, key):
    (path,) = Path("runs").glob(f"*/{file}" if file == "run.json" else f"*/trials/*/{file}")
    written = path.read_text()
    options = [("--format", name, "--table", table) for name, tables in TABLES_OF.items() for table in tables]
    options += [("--format", name) for name in ("junit", "otava")]
    for value in ("1e400", '"text"', "[[]]", "null"):
        text, changed = re.subn(rf'"{key}": [-0-9.e]+', f'"{key}": {value}', written)
        assert changed
        path.write_text(text)
        for wanted in options:
            status, _, err = finished("export", "last", "--output", "file", *wanted)
            assert status in (0, 2) and err.count("\n") <= 1 and "Traceback" not in err


def test_limits_that_another_wrote_are_told_in_a_line(finished):
    (path,) = Path("runs").glob("*/run.json")
    for limits in ('["p99"]', '[{"trial": "x"}]', "5", '[{"trial": 1, "limit": 2, "figure": 3, "value": "4"}]'):
        path.write_text(re.sub(r'("limits": .*,)?\s*"state"', f' "limits": {limits},\n "state"', path.read_text()))
        for command in (("export", "last", "--format", "junit"), ("show", "last"), ("show", "last", "--json")):
            status, _, err = finished(*command)
            assert status in (1, 2) and err.count("\n") <= 1 and "Traceback" not in err
