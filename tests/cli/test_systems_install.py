"""`dbdyno systems install`: what it refuses."""

from dbdyno.cli.program import run


def test_what_is_no_package_is_refused(capsys):
    assert run(["systems", "install", "mysql@4"]) == 2
    assert "There are mysql@5.5" in capsys.readouterr().err
