"""The directory of packages."""

from pathlib import Path

import pytest

from dbdyno.errors import UserError
from dbdyno.systems.packages.cache import (
    CACHE_VARIABLE,
    cache_folder,
    download_folder,
    installed,
    partial_folder,
    remove,
)
from dbdyno.systems.packages.install import install


def test_the_folder_is_the_users_cache_and_roots_is_open_to_others(monkeypatch):
    monkeypatch.delenv(CACHE_VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/some/cache")
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert cache_folder() == Path("/some/cache/dbdyno")
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert cache_folder() == Path("/var/cache/dbdyno")


def test_what_is_removed_is_gone_and_cannot_be_removed_again(package):
    install(package, lambda _: None)
    assert remove(package) > 0
    assert installed(package) is None
    with pytest.raises(UserError, match="is not installed"):
        remove(package)


def test_what_is_left_of_an_installation_cut_short_is_removed(package):
    for folder in (download_folder(package), partial_folder(package)):
        folder.mkdir(parents=True)
        (folder / "rest").write_text("four")
    assert remove(package) == 8
    assert not download_folder(package).exists() and not partial_folder(package).exists()
