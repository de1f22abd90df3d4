"""`dbdyno compare` on run folders: one run, two runs, refusals and JSON."""

import json

from synthetic_run import SYSTEMS, write_run


def test_the_systems_of_one_run(dbdyno, tmp_path):
    run = str(write_run(tmp_path / "run", SYSTEMS[:2], clients=(1, 2), repeats=3))
    status, out, err = dbdyno("compare", run)
    assert (status, err) == (0, "") and "lmdb against sqlite" in out and "2 cells: 2 faster" in out
    status, out, _ = dbdyno("compare", run, "--baseline", "lmdb", "--json")
    assert status == 0 and [cell["verdict"] for cell in json.loads(out)["cells"]] == ["slower", "slower"]


def test_two_runs_and_a_margin(dbdyno, tmp_path):
    runs = [str(write_run(tmp_path / name, SYSTEMS[:1], clients=(1,), repeats=3)) for name in ("a", "b")]
    status, out, _ = dbdyno("compare", *runs, "--margin", "5%", "--json")
    (cell,) = json.loads(out)["cells"]
    assert (status, cell["margin"], cell["verdict"], cell["ratio"]) == (0, 0.05, "equivalent", 1.0)


def test_refusals(dbdyno, tmp_path):
    first = str(write_run(tmp_path / "one", SYSTEMS[:1], clients=(1,)))
    other = str(write_run(tmp_path / "other", SYSTEMS[2:3], clients=(1,)))
    status, out, err = dbdyno("compare", first, other)
    assert (status, out) == (2, "") and "not like with like: durability class: D1 against D2" in err
    status, out, _ = dbdyno("compare", first, other, "--force")
    assert status == 0 and "NOT LIKE WITH LIKE" in out
    assert dbdyno("compare", first)[0] == 2
    assert "--baseline" in dbdyno("compare", first, first, "--baseline", "sqlite")[2]
    assert "is not a percentage" in dbdyno("compare", first, first, "--margin", "2")[2]
    assert "is not a run" in dbdyno("compare", str(tmp_path), first)[2]
