"""Systems are read as people write them, and written so that they are read again."""

import pytest

from dbdyno.experiment.redact import redact
from dbdyno.experiment.system_spec import bare_name, format_system, parse_system, with_labels, with_settings


def labels(*texts):
    return [spec.label for spec in with_labels([parse_system(text) for text in texts])]


def test_a_name_with_settings():
    spec = parse_system("mariadb?innodb_buffer_pool_size=64M&engine=MyISAM&skip_name_resolve")
    assert spec.name == "mariadb"
    assert spec.settings == {"innodb_buffer_pool_size": "64M", "engine": "MyISAM", "skip_name_resolve": ""}
    assert not spec.attached


def test_an_arrangement():
    spec = parse_system("cache-aside(memcached?memory=64, mariadb?engine=Aria)")
    assert [part.name for part in spec.parts] == ["memcached", "mariadb"]
    assert spec.parts[0].settings == {"memory": "64"}
    assert parse_system("cache-aside(memcached, mysql://u@h/d)").attached


def test_a_version():
    spec = parse_system("mysql@5.6?engine=MyISAM")
    assert (spec.name, spec.version, spec.product) == ("mysql", "5.6", "mysql@5.6")
    assert labels("mysql@5.6", "mysql@8.0", "mariadb") == ["mysql@5.6", "mysql@8.0", "mariadb"]


def test_a_url():
    url = parse_system("mysql://us%40er:p%2Fw@host:3307/db?socket=/run/s.sock&engine=InnoDB")
    assert (url.url.user, url.url.password, url.url.host, url.url.port) == ("us@er", "p/w", "host", 3307)
    assert (url.url.database, url.url.socket, url.settings) == ("db", "/run/s.sock", {"engine": "InnoDB"})
    assert "p/w" not in repr(url)


@pytest.mark.parametrize(
    ("text", "name", "socket", "database"),
    [
        ("postgresql://u@/d?host=/var/run/postgresql", "postgresql", "/var/run/postgresql/.s.PGSQL.5432", "d"),
        ("postgresql://u@:5433/d?host=/tmp/", "postgresql", "/tmp/.s.PGSQL.5433", "d"),
        ("unix://:pw@/run/redis.sock?db=2", "redis", "/run/redis.sock", "2"),
        ("memcached:///?socket=/run/m.sock", "memcached", "/run/m.sock", ""),
    ],
)
def test_a_socket_as_its_own_clients_write_it(text, name, socket, database):
    spec = parse_system(text)
    assert (spec.name, spec.url.scheme, spec.url.socket, spec.url.database) == (name, name, socket, database)
    assert spec.settings == {} and bare_name(spec) == f"{name}://{socket}" and "pw" not in format_system(spec)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cache-aside(" * 2000 + "mariadb" + ")" * 2000, "more than 4,096 characters"),
        ("cache-aside(" * 20 + "mariadb" + ")" * 20, "arrangements nest at most 8 deep"),
        ("redis?save=60 1%0Arequirepass x", r"save = '60 1\nrequirepass x': a setting has no line breaks"),
        ("redis?save=60 1\rrequirepass", "a setting has no line breaks"),
        ("redis://h/0?pid=12x", "pid=12x is not a process ID"),
        ("cassandra?num_tokens=1%E2%80%A8authenticator: x", "a setting has no line breaks"),
        ("redis?save 1 requirepass=x", "'save 1 requirepass' is not a setting"),
        ("postgresql?fsync%3Don=x", "'fsync=on' is not a setting"),
        ("mysql://u@h:99999/d", "'99999' is not a port: give a number from 1 to 65,535"),
        ("mysql://u@h:0/d", "'0' is not a port"),
        ("mysql://u@h:port/d", "'port' is not a port"),
        ("mysql://u@[::1]:x/d", "'x' is not a port"),
        (f"mysql://u@h:{'9' * 4000}/d", "99…' is not a port"),
        ("mysql://u%00@h/d", "no control characters"),
        ("mysql://u@h/d%0A", "no control characters"),
        ("mysql://u@" + "h" * 64 + "/d", "is not a host name"),
    ],
    ids=lambda text: text[:30],
)
def test_what_cannot_be_meant_is_refused_in_words(text, said):
    with pytest.raises(ValueError) as caught:
        parse_system(text)
    assert said in str(caught.value) and len(str(caught.value)) < 400


def test_digits_of_a_password_are_not_taken_for_a_port():
    with pytest.raises(ValueError) as caught:
        parse_system("mysql://u:12345678/x@h/d")
    assert "12345678" not in str(caught.value)


@pytest.mark.parametrize("text", ["Maria DB", "", "mariadb(", "mariadb?a=1&a=2", "mysql://u:pw/x@h:port/d"])
def test_what_is_no_system_is_refused_without_its_password(text):
    with pytest.raises(ValueError) as caught:
        parse_system(text)
    assert "pw" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "mariadb",
        "mysql@5.6?innodb_io_capacity=100",
        "redis?save=60 1&appendonly=yes",
        "mariadb?init_connect=a%26b%3Dc",
        "cache-aside(memcached?memory=64, mariadb?engine=Aria)",
        "redis://host:1/0?layout=hash",
        "mysql://user@[::1]:3306/db?socket=/run/s.sock",
        "redis://127.0.0.1:6379/0?pid=4711",
    ],
)
def test_written_and_read_again_it_is_the_same(text):
    assert parse_system(format_system(parse_system(text))) == parse_system(text)


def test_a_password_is_not_written():
    assert format_system(parse_system("mysql://u:secret@h/d")) == "mysql://u:***@h/d"
    assert format_system(parse_system("redis://:secret@h")) == "redis://:***@h"


def test_labels_are_names_and_settings_only_where_names_repeat():
    assert labels("mariadb?engine=Aria", "redis") == ["mariadb", "redis"]
    assert labels("mariadb", "mariadb?engine=Aria") == ["mariadb", "mariadb engine=Aria"]
    assert labels("cache-aside(memcached?memory=1, lmdb)", "cache-aside(memcached?memory=2, lmdb)") == [
        "cache-aside(memcached, lmdb) memcached.memory=1",
        "cache-aside(memcached, lmdb) memcached.memory=2",
    ]
    assert labels("mysql://u:pw@h:1/d") == ["mysql://h:1/d"]


def test_labels_have_only_the_folders_in_which_paths_differ():
    assert labels("redis?binary=/t/a/redis-server", "redis?binary=/t/b/redis-server", "memcached?binary=/t/m") == [
        "redis binary=a",
        "redis binary=b",
        "memcached",
    ]
    deep = "redis?binary=/t/x/0/redis-server", "redis?binary=/t/x/1/redis-server", "redis?binary=/t/y/1/redis-server"
    assert labels(*deep) == ["redis binary=x/0", "redis binary=x/1", "redis binary=y/1"]
    assert labels("mysql?basedir=/opt/m", "mysql?basedir=/opt/m/m") == ["mysql basedir=m", "mysql basedir=m/m"]
    assert labels("mysql?basedir=/m&config=/c/my.cnf", "mysql") == ["mysql basedir=/m config=/c/my.cnf", "mysql"]
    assert labels("mysql?basedir=/m", "mysql?basedir=/n") == ["mysql basedir=m", "mysql basedir=n"]
    assert labels("redis?binary=/t/x", "redis?binary=t/x") == ["redis binary=/t", "redis binary=t"]
    assert labels("mariadb?a=1/2", "mariadb?a=3") == ["mariadb a=1/2", "mariadb a=3"]


def test_labels_leave_out_what_is_there_again_or_in_all():
    assert labels("mariadb?a=1&b=2", "mariadb?b=2", "mariadb?b=2&a=3") == ["mariadb a=1", "mariadb", "mariadb a=3"]
    assert labels("result-cache(memcached*3?memory=64, mariadb)", "result-cache(memcached*3?memory=9, mariadb)") == [
        "result-cache(memcached*3, mariadb) memcached.memory=64",
        "result-cache(memcached*3, mariadb) memcached.memory=9",
    ]


def test_a_message_about_a_url_is_shown_whole():
    with pytest.raises(ValueError) as caught:
        parse_system("mysql://[::1:3306/d")
    assert redact(str(caught.value)) == str(caught.value) and "'mysql://[::1:3306/d' is not a URL" in str(caught.value)


def test_the_same_configuration_twice_is_refused():
    with pytest.raises(ValueError, match="two systems have the label 'mariadb'"):
        labels("mariadb", "mariadb")


def test_a_bare_name_has_neither_settings_nor_user():
    assert bare_name(parse_system("cache-aside(memcached?memory=1, mysql://u:pw@h/d?engine=Aria)")) == (
        "cache-aside(memcached, mysql://h/d)"
    )


def test_a_setting_of_a_part_goes_to_each_part_of_that_name():
    spec = with_settings(
        parse_system("result-cache(memcached*2, mariadb)"), {"memcached.memory": "8", "ttl": "1", "mariadb.a.b": "2"}
    )
    assert [part.settings for part in spec.parts] == [{"memory": "8"}, {"memory": "8"}, {"a.b": "2"}]
    assert spec.settings == {"ttl": "1"}
    assert with_settings(parse_system("mongodb"), {"net.compression": "x"}).settings == {"net.compression": "x"}
