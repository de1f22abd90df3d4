"""Common to stores in the host's C libraries: settings read back, buckets by rows, versions, what is missing."""

import re
import shutil
from dataclasses import replace

import pytest

from dbdyno.errors import UserError
from dbdyno.systems import SYSTEMS
from dbdyno.systems.embedded import installed_library
from helpers import need, system
from systems.load import execute

NAMES = ("rocksdb", "tokyocabinet", "kyotocabinet", "tkrzw")


@pytest.mark.parametrize("name", NAMES)
def test_the_plan_names_the_library_and_every_setting(launch, name):
    need(name)
    library = system(name)
    library.start(launch)
    plan = library.store_plan([])
    library.stop()
    assert (plan["kind"], plan["path"].startswith("/")) == (name, True)
    assert plan["library"].startswith(f"lib{name}.so")


@pytest.mark.parametrize(
    ("text", "settings", "hidden"),
    [
        ("rocksdb?write_buffer_mib=5&cache_mib=9", {"write_buffer_mib": "5", "cache_mib": "9"}, ["bloom_bits"]),
        ("rocksdb?compression=none&sync=none&wal=off&bloom_bits=0", {"compression": "none", "wal": "off"}, None),
        ("tokyocabinet?compression=deflate&mmap_mib=3", {"compression": "deflate", "mmap_mib": "3"}, None),
        ("tokyocabinet?type=tree&cached_leaves=70", {"compression": "none"}, ["cached_leaves", "mmap_mib"]),
        ("tokyocabinet?type=tree&sync=transaction", {}, ["cached_leaves", "mmap_mib", "sync"]),
        ("kyotocabinet?mmap_mib=3", {"mmap_mib": "3"}, None),
        ("kyotocabinet?type=tree&cache_mib=7&compression=zlib", {"cache_mib": "7"}, ["compression"]),
        ("tkrzw?compression=zlib", {"compression": "zlib"}, ["file"]),
        ("tkrzw?type=tree&cached_pages=77", {"cached_pages": "77"}, ["file"]),
    ],
)
def test_what_the_library_uses_is_read_back_from_it(launch, text, settings, hidden):
    need(text.partition("?")[0])
    store = system(text)
    store.start(launch)
    try:
        outcome = execute(store, "point-get", ["prepare", "load"])
        store.opened(outcome.of("hello")[0]["store"])
        (server,) = store.servers()
    finally:
        store.stop()
    assert outcome.status == 0
    assert re.fullmatch(r"\d+\.\d+\.\d+", server["version"])
    assert server.get("not_readable") == hidden
    assert settings.items() <= server["effective_settings"].items()
    assert server["effective_settings"].keys() == store.settings().keys() <= store.all_settings()[store.name].keys()


@pytest.mark.parametrize("name", ("tokyocabinet", "kyotocabinet", "tkrzw"))
def test_files_made_with_other_buckets_than_are_given_are_an_error_with_both(launch, name):
    need(name)
    first, second = system(f"{name}?buckets=2000"), system(f"{name}?buckets=100")
    first.start(launch)
    outcome = execute(first, "point-get", ["prepare", "load"])
    buckets = int(outcome.of("hello")[0]["store"]["settings"]["buckets"])
    kept = first.keep().path
    try:
        second.start(replace(launch, data=kept))
        (last,) = execute(second, "point-get", ["run"]).of("end")
    finally:
        second.stop()
        shutil.rmtree(kept)
    assert 2000 <= buckets < 2100
    assert f"buckets=100 was given, and the library has {buckets}" in last["reason"]


@pytest.mark.parametrize("name", NAMES)
def test_a_library_that_is_missing_is_named_with_what_installs_it(monkeypatch, name):
    monkeypatch.setattr(installed_library, "soname", lambda library: None)
    assert SYSTEMS[name].missing() == f"lib{name} is not installed: apt install lib{name}-dev"


@pytest.mark.parametrize("name", ("tokyocabinet", "kyotocabinet", "tkrzw"))
def test_a_hash_has_two_buckets_a_row_or_as_many_as_are_given_and_a_tree_none(launch, name):
    buckets = {}
    for settings in ("", "?buckets=7", "?type=tree"):
        store = system(name + settings)
        store.start(launch)
        buckets[settings] = store.settings()["buckets"]
        store.stop()
    assert buckets == {"": 2 * launch.rows, "?buckets=7": 7, "?type=tree": 0}


@pytest.mark.parametrize("text", ("tokyocabinet?cached_leaves=90", "kyotocabinet?cache_mib=9", "tkrzw?cached_pages=9"))
def test_a_setting_that_the_type_has_no_use_for_is_refused(text):
    with pytest.raises(UserError, match="is for type=tree only"):
        system(text)
    assert system(f"{text}&type=tree")


@pytest.mark.parametrize("name", ("tokyocabinet", "kyotocabinet"))
@pytest.mark.parametrize(("sync", "level"), [("full", "D2"), ("transaction", "D2"), ("none", "D0")])
def test_durability_follows_from_sync(name, sync, level):
    assert system(f"{name}?sync={sync}").durability().level == level
