"""`dbdyno hosts` lists who has a certificate."""

from dbdyno.cli.program import run


def test_hosts_with_certificates_are_listed(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert run(["hosts"]) == 0
    assert "make some with `dbdyno hosts init" in capsys.readouterr().out
    assert run(["hosts", "init", "c1"]) == 0
    capsys.readouterr()
    assert run(["hosts"]) == 0
    folder = tmp_path / "dbdyno" / "hosts"
    assert capsys.readouterr().out == f"c1: {folder / 'c1'}\nconductor: {folder / 'conductor'}\n"
