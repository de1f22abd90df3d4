"""MySQL of several versions: those that are installed; the class is the same for all."""

import shutil
from dataclasses import replace

import pytest

from dbdyno.errors import UserError
from dbdyno.experiment.system_spec import parse_system
from dbdyno.experiment.workloads import READ_ONLY
from dbdyno.systems import missing
from dbdyno.systems.packages.cache import CACHE_VARIABLE, Installation
from dbdyno.systems.packages.catalogue import PACKAGES
from helpers import need, system
from systems.load import ROWS, execute

SOON = "mysql@5.6"
"""The one that comes soon enough for every test run."""
VERSIONS = [package.name for package in PACKAGES.values() if package.system == "mysql"]
EACH = [pytest.param(name, marks=pytest.mark.versions if name == SOON else pytest.mark.systems) for name in VERSIONS]


@pytest.mark.parametrize("name", EACH)
def test_a_version_starts_takes_settings_and_is_gone_when_stopped(name, launch):
    need(name)
    mysql = system(f"{name}?innodb_buffer_pool_size=32M")
    try:
        mysql.start(launch)
        (server,) = mysql.servers()
        assert server["version"].startswith(PACKAGES[name].release)
        assert server["effective_settings"]["innodb_buffer_pool_size"] == str(32 << 20)
        assert server["effective_settings"]["innodb_flush_method"] == "fsync"
        assert mysql.durability().level == "D2"
        assert mysql.counters()["mysql"]["Questions"] > 0
        directory = mysql._directory.path
    finally:
        mysql.stop()
    assert not directory.exists() and mysql.server_pids() == {}


@pytest.mark.systems
@pytest.mark.parametrize("tls", ["off", "on"])
def test_the_default_password_method_of_8_0_is_known_in_full_and_from_the_servers_memory(tls, launch):
    need("mysql@8.0")
    mysql = system(f"mysql@8.0?default_authentication_plugin=caching_sha2_password&tls={tls}")
    try:
        mysql.start(launch)
        endpoint = mysql.endpoint
        assert ("caching_sha2_password",) in mysql._query("SELECT plugin FROM mysql.user WHERE user = 'dbdyno'")
        # Emptied, the server's memory of passwords asks for the whole exchange: the password in TLS, or a public key.
        mysql._query("FLUSH PRIVILEGES")
        for _ in ("in full", "remembered"):
            assert execute(mysql, "point-get", ["prepare", "load", "run"]).of("total")[0]["reads_verified"] > 0
        mysql._query("FLUSH PRIVILEGES")
        url = f"mysql://{endpoint.user}:{endpoint.password}@{endpoint.host}:{endpoint.port}/{endpoint.database}"
        system(f"{url}?tls={'off' if tls == 'off' else 'required'}").start(launch)
        (last,) = execute(mysql, "point-get", ["run"], secrets=["wrong"]).of("end")
        assert "Access denied" in last["reason"]
    finally:
        mysql.stop()


@pytest.mark.parametrize("name", EACH)
def test_what_was_loaded_is_kept_and_started_from_again(name, launch):
    need(name)
    first, second = system(name), system(name)
    kept = None
    try:
        first.start(launch)
        assert execute(first, "point-get", ["prepare", "load"]).status == 0
        kept = first.keep().path
        assert first.server_pids() == {}
        for _ in range(2):
            second.start(replace(launch, data=kept))
            assert second._query("SELECT COUNT(*) FROM dbdyno_bm") == ((ROWS,),)
            second._query("DELETE FROM dbdyno_bm LIMIT 7")
            second.stop()
    finally:
        first.stop()
        second.stop()
        if kept:
            shutil.rmtree(kept)


@pytest.mark.parametrize("name", EACH)
def test_a_mix_has_transactions_that_only_read_if_the_version_knows_them(started, name):
    server, phases = started(name), ["prepare", "load", "run", "verify", "cleanup"]
    mix = execute(server, "smallbank", phases)
    assert mix.status == 0 and mix.of("total")[0]["operations"]["begin_read_only"]["completed"]
    assert "server" not in mix.errors() and all(check["ok"] is not False for check in mix.of("check"))
    alone = execute(server, "trx-lifecycle", phases, options={"transaction": "read-only"})
    assert ("server" in alone.errors()) == (name == "mysql@5.5") == (READ_ONLY not in server.operations)


def test_a_version_that_is_not_there_is_said_with_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    assert missing(parse_system("mysql@5.6")) == (
        "mysql@5.6 is not installed: dbdyno systems install mysql@5.6 (31 MB)"
    )
    assert "name a version: mysql@5.5" in missing(parse_system("mysql"))


def test_a_version_that_does_not_exist_is_refused():
    with pytest.raises(UserError, match=r"no version 'redis@1'"):
        system("redis@1")


def test_a_data_directory_is_copied_where_the_version_brings_one(tmp_path, monkeypatch):
    mysql = system("mysql@5.6")
    monkeypatch.setattr(mysql, "installation", lambda: Installation(PACKAGES["mysql@5.6"], tmp_path))
    assert "--initialize-insecure" in mysql._make_data_command(tmp_path / "data")
    (tmp_path / "template").mkdir()
    assert mysql._make_data_command(tmp_path / "data")[-2:] == [str(tmp_path / "template"), str(tmp_path / "data")]
