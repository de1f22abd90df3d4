"""`dbdyno explain` on a run folder: every trial, one trial, and none of that name."""

from synthetic_run import SYSTEMS, write_run


def test_every_trial_or_one(dbdyno, tmp_path):
    run = str(write_run(tmp_path / "run", SYSTEMS[2:4], clients=(1, 2)))
    status, out, err = dbdyno("explain", run)
    assert (status, err, out.count("Limited by the network (confidence high).")) == (0, "", 4)
    status, out, _ = dbdyno("explain", run, "2")
    assert status == 0 and out.startswith("mariadb, 2 clients  002-mariadb-game-c2\n") and out.count("Limited") == 1
    status, out, err = dbdyno("explain", run, "nosuch")
    assert (status, out) == (2, "") and "'nosuch' is not a trial of this run, which has 4; the first is 001-" in err
    assert dbdyno("explain", "nosuch")[0] == 2
