"""Settings and versions that differ, without those that are drawn anew for each start."""

import json

from dbdyno.report.why.settings import ABSENT, GIVEN, settings, versions


def _put(label, folder, trial):
    server = trial["servers"][0]
    in_force = {"flush": "1", "port": folder.name[:3], "cache": "x" * 100}
    if label == "slow":
        in_force |= {"flush": "2", "cache": "small"}
        trial["settings"] = {"flush": "2"}
        server["version"] = "11.4"
    server["effective_settings"] = in_force


def test_given_settings_come_first_and_ports_are_none(pairs):
    differing = settings(pairs(_put))
    assert [(setting.name, setting.before, setting.after, setting.note) for setting in differing] == [
        ("flush", "1", "2", GIVEN),
        ("cache", "x" * 59 + "…", "small", ""),
    ]
    assert all(setting.kind == "setting" and setting.share is None for setting in differing)


def test_a_version_that_differs_is_named(pairs):
    (version,) = versions(pairs(_put))
    assert (version.kind, version.name, version.before, version.after) == ("version", "server", "10.11.14", "11.4")


def test_equal_sides_have_none(pairs):
    same = pairs()
    assert settings(same) == [] == versions(same)


def test_every_setting_in_force_is_read_from_beside_the_preparation_and_two_servers_are_told_apart(pairs):
    def put(label, folder, trial):
        trial["preparation"] = f"01-{label}"
        beside = folder.parent.parent / "preparations" / f"01-{label}"
        beside.mkdir(parents=True, exist_ok=True)
        cache = {"memory": "64"} if label == "fast" else {"memory": "32"}
        (beside / "settings.json").write_text(json.dumps({"cache": cache, "store": {"memory": "9", "mode": ""}}))
        trial["servers"].append({"name": "cache", "version": None, "effective_settings": {}})

    (setting,) = settings(pairs(put))
    assert (setting.name, setting.before, setting.after) == ("cache memory", "64", "32")


def test_settings_that_decide_what_is_measured_come_before_all_others(pairs):
    def put(label, folder, trial):
        trial["preparation"] = f"01-{label}"
        beside = folder.parent.parent / "preparations" / f"01-{label}"
        beside.mkdir(parents=True, exist_ok=True)
        settings_of_all = {"a_port_range": label, "log": label, "z_limit": label}
        (beside / "settings.json").write_text(json.dumps({trial["servers"][0]["name"]: settings_of_all}))
        trial["servers"][0]["effective_settings"] = {"log": label}

    assert [setting.name for setting in settings(pairs(put))] == ["log", "a_port_range", "z_limit"]


def test_a_setting_that_only_one_side_gives_and_no_server_shows_is_named(pairs):
    def put(label, _, trial):
        trial["settings"] = {"hidden": "on"} if label == "slow" else {}

    (setting,) = settings(pairs(put))
    assert (setting.name, setting.before, setting.after) == ("hidden", ABSENT, "on")


def test_the_path_of_a_build_within_a_value_is_no_difference(pairs):
    def put(label, _, trial):
        root = f"/opt/{label}"
        server = trial["servers"][0]
        server["build"] = {"setting": "basedir", "path": f"{root}/bin/mysqld", "version": "8.0"}
        server["effective_settings"] = {
            "basedir": f"{root}/",
            "charsets": f"{root}/share/charsets/",
            "plugins": f"{root}/lib/{label}",
        }
        trial["settings"] = {"basedir": root}

    assert [setting.name for setting in settings(pairs(put))] == ["plugins"]


def test_the_folder_of_an_installed_version_within_a_value_is_no_difference(pairs):
    def put(label, _, trial):
        root = f"/cache/mysql@{label}"
        trial["servers"][0]["effective_settings"] = {
            "basedir": f"{root}/",
            "lc_messages_dir": f"{root}/share/",
            "plugin_dir": f"{root}/lib/{label}/",
        }

    assert [evidence.name for evidence in settings(pairs(put))] == ["plugin_dir"]


def test_another_client_library_is_a_version(pairs):
    def put(label, folder, _):
        records = folder / "records.jsonl"
        library = f'{{"record":"hello","library":"psycopg 3 (C library {label})"'
        records.write_text(records.read_text().replace('{"record":"hello"', library, 1))

    (version,) = versions(pairs(put))
    assert (version.name, version.before, version.after) == (
        "client library",
        "psycopg 3 (C library fast)",
        "psycopg 3 (C library slow)",
    )
