"""The load through the C library at a path: labelled, stated, and refused if it is none."""

import json
import os
import shutil
from pathlib import Path

import pytest

from dbdyno.experiment.clients import LIBRARIES
from helpers import host_library, need

SMALL = ("--clients", "2", "--seconds", "1", "--warmup", "0", "--rows", "50", "--set", "ceiling=false")


@pytest.mark.parametrize(
    ("library", "file", "system"),
    [("psycopg", "libpq.so.5", "postgresql"), ("mysqlclient", "libmariadb.so.3", "mariadb")],
)
def test_the_load_goes_through_the_library_of_a_path(dbdyno, tmp_path, library, file, system):
    need(system)
    if not LIBRARIES[library].installed:
        pytest.skip(LIBRARIES[library].missing)
    path = Path(shutil.copy(host_library(file.removeprefix("lib").partition(".")[0]), tmp_path / file))
    client = f"{library}?library={path}"
    status, out, err = dbdyno("run", "point-update", "--system", system, *SMALL, "--set", f"client={client}")
    assert status == 0, out + err
    (run,) = Path("runs").iterdir()
    (trial,) = json.loads(dbdyno("show", str(run), "--json")[1])["trials"]
    assert (trial["label"], trial["client"]) == (f"{system} via {client}", client)
    assert "C library" in trial["client_library"] and trial["throughput_per_s"] > 0
    (facts,) = [json.loads(file.read_text()) for file in run.glob("trials/*/trial.json")]
    build = facts["client_build"]
    assert build["path"] == str(path) and f"C library {build['version']}" in trial["client_library"]
    report = " ".join((run / "report.html").read_text().split())
    assert f"client: C library {build['version']} from {path}, sha256 {build['sha256'][:12]}" in report
    plan = json.loads(next(run.glob("trials/*/plan.json")).read_text())
    assert (plan["library"], plan["c_library"]) == (library, str(path))


def test_a_file_that_is_no_library_is_refused_before_anything_starts(dbdyno, tmp_path):
    need("postgresql")
    (tmp_path / "libpq.so.5").write_text("no library")
    client = f"client=psycopg?library={tmp_path}/libpq.so.5"
    status, out, err = dbdyno("run", "point-update", "--system", "postgresql", *SMALL, "--set", client)
    assert (status, out) == (2, "") and f"{tmp_path}/libpq.so.5 is not a shared library" in " ".join(err.split())
    assert not Path("runs").exists() and "LD_PRELOAD" not in os.environ
