"""`dbdyno systems remove`: what it refuses."""

from dbdyno.cli.program import run
from dbdyno.systems.packages.cache import CACHE_VARIABLE
from dbdyno.systems.packages.catalogue import PACKAGES


def test_what_is_not_installed_cannot_be_removed(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    assert run(["systems", "remove", next(iter(PACKAGES))]) == 2
    assert "is not installed" in capsys.readouterr().err
