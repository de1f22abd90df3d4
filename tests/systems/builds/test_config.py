"""Configuration files of a user's: their settings are the server's, and what is dbdyno's own is refused by name."""

import hashlib
import re

import pytest

from dbdyno.errors import UserError
from dbdyno.systems.builds.config import (
    MOST_BYTES,
    assignments,
    directives,
    elements,
    options,
    options_of_groups,
    paths,
    read_config,
    scalars,
)
from helpers import need, system

MY_CNF = """\
# A server's
[client]
port = 3306
[mysqld]
innodb-buffer-pool-size = 64M   # of memory
skip-name-resolve
; more
character_set_server = "utf8mb4"
"""


def lines(text):
    return text.splitlines()


def test_a_my_cnf_has_the_settings_of_the_servers_groups():
    assert dict(options_of_groups("mysqld")(lines(MY_CNF))) == {
        "innodb_buffer_pool_size": "64M",
        "skip_name_resolve": "",
        "character_set_server": "utf8mb4",
    }


def test_a_redis_conf_has_directives_whose_words_add_up():
    text = 'save 900 1\nsave 300 10\nAppendOnly yes\nlogfile "x y"\n# hz 5\n'
    assert dict(directives(lines(text))) == {"save": "900 1 300 10", "appendonly": "yes", "logfile": "x y"}
    assert dict(directives(lines('save 900 1\nsave ""\n'))) == {"save": ""}


def test_a_postgresql_conf_has_assignments():
    text = "shared_buffers = 128MB  # memory\nSearch_Path = '\"$user\", public'\nfsync on\n"
    assert dict(assignments(lines(text))) == {
        "shared_buffers": "128MB",
        "search_path": '"$user", public',
        "fsync": "on",
    }


def test_a_cassandra_yaml_has_settings_of_one_value():
    text = "---\nconcurrent_reads: 64  # more\n# x: 1\nseed_provider:\n  - class_name: a\n"
    text += "commitlog_sync: 'batch'\nempty:\n"
    assert dict(scalars("seed_provider")(lines(text))) == {
        "concurrent_reads": "64",
        "seed_provider": "",
        "commitlog_sync": "batch",
    }


MONGOD_CONF = """\
# mongod.conf
storage:
  dbPath: /var/lib/mongodb   # its own
  wiredTiger:
    engineConfig:
      cacheSizeGB: 0.5
#  engine:
systemLog:
  path: "/var/log/mongod.log"
net:
  port: 27017
setParameter:
  ttlMonitorEnabled: false
"""


def test_a_mongod_conf_has_paths_of_nested_sections():
    read = paths({"storage.wiredTiger.engineConfig.cacheSizeGB": "cache", "storage.dbPath": "dbpath"}, "setParameter")
    assert dict(read(lines(MONGOD_CONF.partition("systemLog")[0]))) == {"dbpath": "/var/lib/mongodb", "cache": "0.5"}
    assert dict(read(lines("setParameter:\n  a: 1\n"))) == {"setParameter.a": "1"}


def test_a_users_xml_has_the_settings_of_its_default_profile():
    text = "<yandex><users><default><password>x</password></default></users><profiles><default>\n"
    text += "<max_threads> 2 </max_threads><readonly/></default><other><max_threads>9</max_threads></other>"
    assert dict(elements("profiles/default")(lines(f"{text}</profiles></yandex>"))) == {
        "max_threads": "2",
        "readonly": "",
    }


def test_a_memcached_conf_has_options():
    text = "# memory\n-m 64\n-t=4\n-d\n"
    assert dict(options({"-m": "memory", "-t": "threads", "-d": "daemon"})(lines(text))) == {
        "memory": "64",
        "threads": "4",
        "daemon": "",
    }


@pytest.mark.parametrize(
    ("read", "text", "said"),
    [
        (scalars("a"), "b:\n  - c: 1\n", "'b' has parts, and only settings of one value are read"),
        (scalars("a"), "b:1", "'b:1' is not a setting: write name: value"),
        (paths({"a.b": "c"}), "a:\n  b: 1\n  d: 2\n", "'a.d': dbdyno knows no option for it: leave it out"),
        (paths({"a.b": "c"}), "a:\n  - b: 1\n", "'- b: 1' is not a setting: write name: value"),
        (elements("profiles/default"), "<a><b></a>", "is not XML: mismatched tag"),
        (
            elements("profiles/default"),
            "<a><profiles><default><b><c/></b></default></profiles></a>",
            "'b' has parts, and only settings of one value are read",
        ),
        (options({"-m": "memory"}), "-v", "dbdyno gives no option -v; it gives -m"),
        (options_of_groups("mysqld"), "[mysqld]\n!includedir /etc/x", "other files are not read"),
        (options_of_groups("mysqld"), "[mysqld-8.0]\nx=1", "[mysqld-8.0] is for one version"),
        (options_of_groups("mysqld"), "x=1", "is in no group, such as [mysqld]"),
        (options_of_groups("mysqld"), "[mysqld]\n--x=1", "is not a setting"),
        (assignments, "include 'other.conf'", "other files are not read"),
        (assignments, "shared_buffers", "is not a setting: write name = value"),
        (assignments, "a = 'b", "No closing quotation"),
        (directives, "hz\t5\x07", "no control characters"),
    ],
)
def test_what_is_not_understood_is_refused(tmp_path, read, text, said):
    (tmp_path / "its.conf").write_text(text)
    with pytest.raises(UserError, match=re.escape(said)) as error:
        read_config("label", str(tmp_path / "its.conf"), read, ())
    assert str(error.value).startswith("label: config = ") and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "no such file"),
        (b"\xff\xfe", "is not UTF-8 text"),
        (b"x" * (MOST_BYTES + 1), "has more than 1,048,576 bytes"),
    ],
)
def test_what_is_no_file_of_settings_is_refused(tmp_path, content, said):
    if content is not None:
        (tmp_path / "its.conf").write_bytes(content)
    with pytest.raises(UserError, match=said):
        read_config("label", str(tmp_path / "its.conf"), directives, ())


def test_every_setting_that_is_dbdynos_own_is_named_at_once(tmp_path):
    (tmp_path / "my.cnf").write_text("[mysqld]\nport=3306\ndatadir=/var/lib/mysql\nsocket=/s\nsync_binlog=1\n")
    with pytest.raises(UserError, match=r"sets port, datadir, socket, which dbdyno sets for every server it starts"):
        system(f"mariadb?config={tmp_path}/my.cnf")


def test_a_system_whose_files_are_not_read_says_so():
    with pytest.raises(UserError, match="reads no configuration file of tidb: give its settings here"):
        system("tidb?config=/etc/tidb.toml")


def test_a_memcached_conf_of_debian_names_what_is_dbdynos_own(tmp_path):
    (tmp_path / "memcached.conf").write_text("-d\nlogfile /var/log/memcached.log\n-m 64\n-p 11211\n-l 127.0.0.1\n")
    with pytest.raises(UserError, match="sets daemon, logfile, port, listen, which dbdyno sets"):
        system(f"memcached?config={tmp_path}/memcached.conf")


def test_a_mongod_conf_names_what_is_dbdynos_own(tmp_path):
    (tmp_path / "mongod.conf").write_text(MONGOD_CONF)
    with pytest.raises(UserError, match="sets dbpath, logpath, port, which dbdyno sets"):
        system(f"mongodb?config={tmp_path}/mongod.conf")
    (tmp_path / "mongod.conf").write_text("storage:\n  wiredTiger:\n    engineConfig:\n      cacheSizeGB: 0.5\n")
    mongod = system(f"mongodb?config={tmp_path}/mongod.conf&wiredTigerCacheSizeGB=0.25&write=w1")
    assert mongod.server_settings == {"wiredTigerCacheSizeGB": "0.25"}


def test_a_setting_given_beside_the_file_goes_before_it(tmp_path):
    path = tmp_path / "redis.conf"
    path.write_text("hz 20\nappendonly yes\n")
    redis = system(f"redis?config={path}&hz=30")
    assert redis.server_settings == {"hz": "30", "appendonly": "yes"}
    assert redis.origins()["redis"]["config"] == {
        "path": str(path),
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "settings": {"hz": "20", "appendonly": "yes"},
    }


@pytest.mark.parametrize(
    ("name", "text", "setting", "value"),
    [
        ("redis", "hz 20\nsave 900 1\n", "hz", "20"),
        ("mariadb", "[mysqld]\ninnodb-buffer-pool-size = 64M\n", "innodb_buffer_pool_size", str(64 << 20)),
        ("postgresql", "shared_buffers = 32MB\n", "shared_buffers", "32MB"),
        ("memcached", "-m 96\n-t 3\n", "num_threads", "3"),
        pytest.param(
            "clickhouse",
            "<yandex><profiles><default><max_threads>2</max_threads></default></profiles></yandex>",
            "max_threads",
            "2",
            marks=pytest.mark.systems,
        ),
    ],
)
def test_its_settings_are_in_force(started, tmp_path, name, text, setting, value):
    need(name)
    (tmp_path / "its.conf").write_text(text)
    (server_document,) = started(f"{name}?config={tmp_path}/its.conf").servers()
    assert server_document["effective_settings"][setting] == value


def test_one_that_the_server_does_not_take_is_said_in_its_words(started, tmp_path):
    need("redis")
    (tmp_path / "its.conf").write_text("bogus 1\n")
    with pytest.raises(UserError, match="Bad directive"):
        started(f"redis?config={tmp_path}/its.conf")
