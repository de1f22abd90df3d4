"""`dbdyno why`: what changed, for one run and for two, and nothing without a confirmed difference."""

import json

from synthetic_run import SYSTEMS, write_run


def test_two_systems_and_two_runs(dbdyno, tmp_path):
    run = str(write_run(tmp_path / "run", SYSTEMS[:2], clients=(1, 2), repeats=3))
    status, out, err = dbdyno("why", run)
    assert (status, err) == (0, "")
    assert "lmdb is faster than sqlite  game, 1 client: " in out and "No setting and no version differs." in out
    cells = json.loads(dbdyno("why", run, "--json")[1])
    assert [(cell["clients"], cell["verdict"]) for cell in cells] == [(1, "faster"), (2, "faster")]
    assert json.loads(dbdyno("why", run, "--baseline", "lmdb", "--json")[1])[0]["verdict"] == "slower"
    status, out, _ = dbdyno("compare", run)
    assert (
        status == 0
        and "lmdb is faster than sqlite" in out
        and f"More evidence: dbdyno why {run}" in out.replace("\n", " ")
    )


def test_nothing_confirmed_is_nothing_to_explain(dbdyno, tmp_path):
    runs = [str(write_run(tmp_path / name, SYSTEMS[:1], clients=(1,), repeats=3)) for name in ("a", "b")]
    status, out, _ = dbdyno("why", *runs)
    assert status == 0 and "No difference is confirmed" in out
    assert json.loads(dbdyno("why", *runs, "--json")[1]) == []
    status, out, err = dbdyno("why", *runs, "--baseline", "sqlite")
    assert (status, out) == (2, "") and "--baseline" in err
