"""Common to embedded stores: checked settings, defaults shown, a private directory."""

import shutil
from dataclasses import replace

import pytest

from dbdyno.errors import UserError
from helpers import system


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sqlite?jurnal_mode=wal", "no setting 'jurnal_mode'; did you mean 'journal_mode'?"),
        ("sqlite?journal_mode=none", "journal_mode = 'none': give one of wal, delete"),
        ("lmdb?map_size_bytes=big", "map_size_bytes = 'big': give a whole number"),
    ],
)
def test_settings_are_checked(text, said):
    with pytest.raises(UserError) as caught:
        system(text)
    assert said in str(caught.value)


def test_its_directory_is_there_while_it_is_started(launch):
    sqlite = system("sqlite?cache_size_kib=100")
    sqlite.start(launch)
    path = sqlite.path
    assert sqlite.data_directories() == (path,)
    assert path.is_dir() and sqlite.embedded and sqlite.server_pids() == {}
    sqlite.stop()
    sqlite.stop()
    assert not path.exists()


def test_every_setting_is_shown_as_it_is(launch):
    sqlite = system("sqlite?cache_size_kib=100&synchronous=OFF")
    assert sqlite.servers()[0]["effective_settings"] == {
        "journal_mode": "wal",
        "synchronous": "off",
        "cache_size_kib": "100",
        "mmap_size_bytes": "0",
    }


def test_what_its_library_says_goes_before_what_was_given():
    sqlite = system("sqlite")
    assert (sqlite.servers()[0]["version"], "not_readable" in sqlite.servers()[0]) == (None, False)
    sqlite.opened(
        {"version": "3.1", "settings": {"cache_size_kib": "7", "page": "4"}, "not_readable": ["journal_mode"]}
    )
    (server,) = sqlite.servers()
    assert (server["version"], server["not_readable"]) == ("3.1", ["journal_mode"])
    assert server["effective_settings"]["cache_size_kib"] == "7" and "page" not in server["effective_settings"]
    assert (
        sqlite.all_settings()["sqlite"].items() >= {"page": "4", "cache_size_kib": "7", "synchronous": "full"}.items()
    )


def test_its_files_are_kept_and_started_from_again(launch):
    first, second = system("sqlite"), system("sqlite")
    first.start(launch)
    (first.path / "dbdyno.sqlite").write_text("rows")
    kept = first.keep().path
    first.stop()
    second.start(replace(launch, data=kept))
    try:
        assert second.restorable and second.path != kept
        assert (second.path / "dbdyno.sqlite").read_text() == (kept / "dbdyno.sqlite").read_text() == "rows"
    finally:
        second.stop()
        shutil.rmtree(kept)
