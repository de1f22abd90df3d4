"""What stores in the host's C libraries share: checked settings, buckets by rows, versions, what is missing."""

import pytest

from dbdyno.errors import UserError
from dbdyno.systems import SYSTEMS, installed_library
from helpers import need, system

NAMES = ("rocksdb", "tokyocabinet", "kyotocabinet", "tkrzw")


@pytest.mark.parametrize("name", NAMES)
def test_the_plan_names_the_library_and_every_setting(launch, name):
    need(name)
    one = system(name)
    one.start(launch)
    plan = one.store_plan([])
    (server,) = one.servers()
    one.stop()
    assert (plan["kind"], plan["path"].startswith("/")) == (name, True)
    assert plan["library"].startswith(f"lib{name}.so")
    assert server["version"][0].isdigit()
    assert server["effective_settings"] == {
        key: str(value) for key, value in plan.items() if key not in ("kind", "path", "library")
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_library_that_is_missing_is_named_with_what_installs_it(monkeypatch, name):
    monkeypatch.setattr(installed_library, "soname", lambda library: None)
    assert SYSTEMS[name].missing() == f"lib{name} is not installed: apt install lib{name}-dev"
    assert installed_library.version.__wrapped__(name, None) is None


@pytest.mark.parametrize("name", ("tokyocabinet", "kyotocabinet", "tkrzw"))
def test_a_hash_has_two_buckets_a_row_or_as_many_as_are_given_and_a_tree_none(launch, name):
    buckets = {}
    for settings in ("", "?buckets=7", "?type=tree"):
        one = system(name + settings)
        one.start(launch)
        buckets[settings] = one.settings()["buckets"]
        one.stop()
    assert buckets == {"": 2 * launch.rows, "?buckets=7": 7, "?type=tree": 0}


@pytest.mark.parametrize("text", ("tokyocabinet?cached_leaves=9", "kyotocabinet?cache_mib=9", "tkrzw?cached_pages=9"))
def test_a_setting_that_the_type_has_no_use_for_is_refused(text):
    with pytest.raises(UserError, match="is for type=tree only"):
        system(text)
    assert system(f"{text}&type=tree")


@pytest.mark.parametrize("name", ("tokyocabinet", "kyotocabinet"))
@pytest.mark.parametrize(("sync", "level"), [("full", "D2"), ("transaction", "D2"), ("none", "D0")])
def test_durability_follows_from_sync(name, sync, level):
    assert system(f"{name}?sync={sync}").durability().level == level
