"""ProxySQL's settings are given, read back and refused; tests/systems/arrangements has it in front of a server."""

import pytest

from dbdyno.errors import UserError
from dbdyno.experiment.system_spec import parse_system
from dbdyno.systems.mysql.proxysql import ProxySQL
from helpers import need, need_proxysql


def pooler(text):
    return ProxySQL(parse_system(text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("proxysql?admin-hash=1", "'admin-hash' is not a setting of ProxySQL"),
        ("proxysql?interfaces=1", "dbdyno sets 'interfaces'"),
        ("proxysql?pool_size=many", "pool_size = 'many': give a number of connections"),
        ('proxysql?init_connect=SELECT "', "ProxySQL reads no such value"),
    ],
)
def test_settings_that_it_cannot_have_are_refused(text, said):
    with pytest.raises(UserError, match=said):
        pooler(text)


def test_its_settings_and_counters_are_read_from_its_console(started):
    need_proxysql()
    need("mariadb")
    pooled = started("via(proxysql?threads=2&multiplexing=false&init_connect=SET @a%3D1&pool_size=7, mariadb)")
    settings = pooled.all_settings()["proxysql"]
    assert (settings["threads"], settings["multiplexing"], settings["init_connect"]) == ("2", "false", "SET @a=1")
    assert not any("password" in key and value for key, value in settings.items())
    (stated, _) = pooled.servers()
    assert str(stated["effective_settings"]["pool_size"]) == "7" and "." in stated["version"]
    assert pooled.counters()["proxysql"]["Client_Connections_created"] >= 0


def test_a_setting_that_it_does_not_know_is_refused(started):
    need_proxysql()
    need("mariadb")
    with pytest.raises(UserError, match="no setting"):
        started("via(proxysql?thread=2, mariadb)")
