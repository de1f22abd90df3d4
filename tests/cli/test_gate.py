"""`dbdyno gate`: status 1 on a confirmed slowdown and on nothing else; what it cannot judge does not pass."""

import json
from dataclasses import replace

import pytest

from synthetic_run import SYSTEMS, write_run

MARIADB = SYSTEMS[2]


@pytest.fixture
def run(tmp_path):
    def write(name, factor=1.0, **keys):
        system = replace(MARIADB, base_us=MARIADB.base_us * factor, peak_per_s=MARIADB.peak_per_s / factor)
        return str(write_run(tmp_path / name, (system,), **({"clients": (1, 2), "seconds": 3, "repeats": 5} | keys)))

    return write


def test_a_slowdown_fails(dbdyno, run):
    status, out, err = dbdyno("gate", run("before"), run("after", 1.1))
    assert (status, err) == (1, "") and "2 of 2 cells are confirmed slower by more than 3 %" in out


def test_a_speed_up_and_no_change_pass(dbdyno, run):
    before = run("before")
    assert dbdyno("gate", before, run("same"))[0] == 0
    assert dbdyno("gate", before, run("faster", 0.8))[0] == 0


def test_a_slowdown_within_the_margin_passes(dbdyno, run):
    before, after = run("before"), run("after", 1.1)
    status, out, _ = dbdyno("gate", before, after, "--margin", "15%", "--json")
    assert (status, json.loads(out)["passed"]) == (0, True)
    status, out, _ = dbdyno("gate", before, after, "--json")
    assert (status, json.loads(out)["confirmed_slowdowns"]) == (1, 2)


def test_one_trial_a_side_can_judge_nothing(dbdyno, run):
    status, _, err = dbdyno("gate", run("before", repeats=1), run("after", 2.0, repeats=1))
    assert status == 2 and "can judge nothing" in err and "--repeat 5" in err


def test_failed_trials_do_not_pass(dbdyno, run):
    faults = {("mariadb", clients): "server-died" for clients in (1, 2)}
    status, _, err = dbdyno("gate", run("before"), run("after", faults=faults))
    assert status == 2 and "can judge nothing" in err


def test_what_could_not_be_judged_does_not_pass(dbdyno, run):
    faults, before = {("mariadb", 2): "server-died"}, run("before")
    status, out, err = dbdyno("gate", before, run("after", faults=faults))
    assert status == 2 and "1 of the baseline's cells could not be judged" in err
    assert "0 of 2 cells are confirmed slower by more than 3 %; 1 could not be judged" in out


def test_what_is_not_like_with_like_is_refused(dbdyno, run, tmp_path):
    other = str(write_run(tmp_path / "d0", (replace(MARIADB, durability="D0"),), clients=(1, 2), repeats=5))
    status, _, err = dbdyno("gate", run("before"), other)
    assert status == 2 and "durability class: D2 against D0" in err


def test_what_the_baseline_has_and_the_run_lacks_does_not_pass(dbdyno, run, tmp_path):
    status, out, err = dbdyno("gate", run("before"), run("fewer", clients=(1,)))
    assert status == 2 and "Missing: mariadb on game at 2 clients is not in fewer" in out and "cannot pass" in err
    both = str(write_run(tmp_path / "both", (SYSTEMS[0], MARIADB), clients=(1, 2), seconds=3, repeats=5))
    status, out, _ = dbdyno("gate", both, run("after"))
    assert status == 2 and "Missing: sqlite, which both has, is not in after" in out
    assert dbdyno("gate", run("slow", 0.8), run("slower", 1.1, clients=(1,)))[0] == 1


LIMITED = {("mariadb", 2): "client-limited"}


def test_what_the_client_limited_on_both_sides_can_be_left_out(dbdyno, run):
    before, same = run("before", faults=LIMITED), run("same", faults=LIMITED)
    status, _, err = dbdyno("gate", before, same)
    assert status == 2 and "--leave-out-limited" in err
    status, out, err = dbdyno("gate", before, same, "--leave-out-limited")
    assert (status, err) == (0, "")
    assert "0 of 1 cells are confirmed slower by more than 3 %; left out, limited on both sides: 1 " in out
    assert "(mariadb on game at 2 clients: the client)" in out
    status, out, _ = dbdyno("gate", before, same, "--leave-out-limited", "--json")
    document = json.loads(out)
    assert document["left_out_limited"] == ["mariadb on game at 2 clients: the client"]
    assert (status, document["passed"], document["not_judged"]) == (0, True, 0)


def test_a_slowdown_beside_what_is_left_out_still_fails(dbdyno, run):
    before, after = run("before", faults=LIMITED), run("after", 1.1, faults=LIMITED)
    status, out, _ = dbdyno("gate", before, after, "--leave-out-limited")
    assert status == 1 and "1 of 1 cells are confirmed slower" in out and "limited on both sides: 1" in out


def test_what_the_client_limited_on_one_side_is_not_left_out(dbdyno, run):
    for names in (("before", "after"), ("after", "before")):
        runs = {"before": run("before" + names[0]), "after": run("after" + names[0], faults=LIMITED)}
        status, out, err = dbdyno("gate", *(runs[name] for name in names), "--leave-out-limited")
        assert status == 2 and "1 of the baseline's cells could not be judged" in err and "limited on both" not in out


def test_where_nothing_else_remains_nothing_passes(dbdyno, run):
    faults = {("mariadb", clients): "client-limited" for clients in (1, 2)}
    status, out, err = dbdyno("gate", run("before", faults=faults), run("same", faults=faults), "--leave-out-limited")
    assert status == 2 and "can judge nothing: the client or the rate limited every cell on both sides" in err
    assert "left out, limited on both sides: 2" in out


def test_an_open_loop_that_both_followed_can_be_left_out_and_no_other(dbdyno, run):
    def offered(name, factor=1.0):
        return run(name, factor, clients=(2,), rates=(None, 800))

    before = offered("before")
    assert dbdyno("gate", before, offered("same"))[0] == 2
    status, out, _ = dbdyno("gate", before, offered("again"), "--leave-out-limited")
    assert status == 0 and "(mariadb on game at 2 clients, 800/s: the requested rate)" in out
    status, out, _ = dbdyno("gate", before, offered("behind", 3.0), "--leave-out-limited", "--json")
    assert (status, json.loads(out)["left_out_limited"]) == (1, [])
