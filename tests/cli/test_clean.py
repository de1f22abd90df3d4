"""Cleaning somebody else's store, from the command line."""

from dbdyno.conduct.clean import Cleaned
from dbdyno.systems import ATTACHED


def test_it_says_that_nothing_is_left(dbdyno, fake_load, fake_system, monkeypatch):
    monkeypatch.setitem(ATTACHED, "fake", fake_system)
    status, out, err = dbdyno("clean", "fake://u:hidden@host/d")
    assert (status, out, err) == (0, "fake://host/d: nothing of dbdyno is left there\n", "")
    assert fake_system.calls == ["start", "stop"]


def test_what_was_removed_is_said(dbdyno, monkeypatch):
    monkeypatch.setattr("dbdyno.cli.clean.clean", lambda spec, dry_run: Cleaned(["dbdyno_bm", "dbdyno_sysbench"]))
    status, out, _ = dbdyno("clean", "mysql://u:hidden@host/d")
    assert status == 0
    assert out.splitlines() == [
        "mysql://host/d: removed dbdyno_bm, dbdyno_sysbench",
        "mysql://host/d: nothing of dbdyno is left there",
    ]


def test_a_dry_run_says_what_would_be_removed(dbdyno, monkeypatch):
    monkeypatch.setattr("dbdyno.cli.clean.clean", lambda spec, dry_run: Cleaned(["dbdyno_bm"] if dry_run else []))
    status, out, _ = dbdyno("clean", "--dry-run", "mysql://u:hidden@host/d")
    assert (status, out) == (0, "mysql://host/d: would remove dbdyno_bm\n")


def test_what_stays_and_what_nobody_can_know_is_said(dbdyno, monkeypatch):
    cleaned = Cleaned([], ["k was left"], ["it cannot list its keys"])
    monkeypatch.setattr("dbdyno.cli.clean.clean", lambda spec, dry_run: cleaned)
    _, out, _ = dbdyno("clean", "memcached://host")
    assert out.splitlines() == ["memcached://host: k was left", "memcached://host: it cannot list its keys"]


def test_what_is_no_url_is_refused(dbdyno):
    assert dbdyno("clean", "mariadb")[0] == 2
    status, _, err = dbdyno("clean", "mysql://u:hidden@h:x/d")
    assert status == 2 and "'x' is not a port" in err and "hidden" not in err
