"""`dbdyno hosts init`."""

from dbdyno.cli.program import run


def test_certificates_are_made_where_they_are_said(tmp_path, capsys):
    assert run(["hosts", "init", "c1", "--directory", str(tmp_path / "made")]) == 0
    assert f"{tmp_path / 'made' / 'c1'}: certificate and key of c1" in capsys.readouterr().out
    assert sorted(path.name for path in (tmp_path / "made").iterdir()) == ["c1", "ca-key.pem", "ca.pem", "conductor"]


def test_a_name_that_is_none_is_refused(tmp_path, capsys):
    assert run(["hosts", "init", "../c1", "--directory", str(tmp_path)]) == 2
    assert "is not a host name" in capsys.readouterr().err and not list(tmp_path.iterdir())
