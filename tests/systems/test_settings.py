"""Values that are one, however they are written, and values that are not."""

import pytest

from dbdyno.errors import UserError
from dbdyno.systems.settings import check, is_same, without_secrets


@pytest.mark.parametrize(
    ("given", "there", "same"),
    [
        ("64M", "67108864", True),
        ("64mb", "67108864", True),
        ("64M", "67108865", False),
        ("1", "1.000000", True),
        ("on", "1", True),
        ("1", "ON", True),
        ("off", "ON", False),
        ("2", "ON", False),
        ("o_direct", "O_DIRECT", True),
        ("mrr=on", "index_merge=on,mrr=on", True),
        ("mrr=on", "index_merge=on,mrr=off", False),
        ("gcache.size=16M; debug=no", "base_port = 4567; debug = no; gcache.size = 16M; ", True),
        ("gcache.size=16M", "base_port = 4567; gcache.size = 32M", False),
        ("normal 0 0 0", "normal 0 0 0 slave 1 2 3", True),
        ('""', "", True),
        ("", "x", False),
        ("5parsec", "5", False),
    ],
)
def test_values(given, there, same):
    assert is_same(given, there) is same


def test_another_value_is_an_error_with_both():
    check("s", {"a": "1M", "unknown": "x"}, {"a": "1048576"})
    with pytest.raises(UserError, match="s: a=1M was given, and the server has 2097152"):
        check("s", {"a": "1M"}, {"a": "2097152"})


def test_secrets_are_not_for_storing():
    kept = without_secrets(
        {
            "requirepass": "x",
            "masterauth": "x",
            "report_password": "x",
            "handlersocket_plain_secret": "",
            "threads": "1",
        }
    )
    assert kept == {"threads": "1"}
    kept_settings = {"default_authentication_plugin": "x", "authenticator": "x", "password_encryption": "x"}
    secret = ("wsrep_sst_auth", "tls-key-file-pass", "primary_conninfo", "authentication_ldap_simple_bind_root_pwd")
    assert without_secrets(kept_settings | dict.fromkeys(secret, "x")) == kept_settings
