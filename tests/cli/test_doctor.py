"""The doctor looks at the load client, the servers and the host."""

from dbdyno.observe import doctor
from dbdyno.systems import SYSTEMS


def test_each_line_says_ok_or_what_to_do(dbdyno, fake_load, monkeypatch):
    monkeypatch.setattr(doctor, "WATCH_S", 0.05)
    monkeypatch.setattr(SYSTEMS["redis"], "missing", classmethod(lambda cls: "not installed: apt install it"))
    status, out, err = dbdyno("doctor")
    assert (status, err) == (0, "")
    assert "dbdyno-load 0.0.0 (fake)" in out
    assert "warn  redis: missing\n      not installed: apt install it\n" in out
    assert all(line.startswith(("ok    ", "warn  ", "      ")) for line in out.splitlines())


def test_a_load_client_that_is_not_there_is_a_finding(dbdyno, monkeypatch):
    monkeypatch.setattr(doctor, "WATCH_S", 0.05)
    monkeypatch.setenv("DBDYNO_LOAD", "/nowhere")
    status, out, _ = dbdyno("doctor")
    assert status == 0 and "warn  dbdyno-load cannot be used\n      DBDYNO_LOAD=/nowhere" in out
