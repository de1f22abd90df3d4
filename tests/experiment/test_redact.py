"""No password of a URL survives, whatever it holds, and nothing else is touched."""

import pytest

from dbdyno.experiment.redact import holds_password, redact


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("mysql://u:pw@h/db", "mysql://u:***@h/db"),
        ("mysql://u:p@ss:word@h/db", "mysql://u:***@h/db"),
        ("mysql://u:a b,c/d@h/db", "mysql://u:***@h/db"),
        ("--system=redis://:pw@h:1/0", "--system=redis://:***@h:1/0"),
        ("cache-aside(memcached://h:1, mysql://u:a,b@h:2/d)", "cache-aside(memcached://h:1, mysql://u:***@h:2/d)"),
        ("cache-aside(redis://:a@h:1, mysql://u:b@h/d)", "cache-aside(redis://:***@h:1, mysql://u:***@h/d)"),
    ],
)
def test_passwords_are_taken_out(text, redacted):
    assert redact(text) == redacted
    assert holds_password(text)
    assert not holds_password(redacted)


@pytest.mark.parametrize(
    "text",
    [
        "mysql://h:3306/db",
        "mysql://u@h:3306/db",
        "mysql://h:3306/a and mysql://u@h:3307/b",
        "mysql://h:3306/d: denied for 'u'@'h'",
        "run game --clients 1,8",
    ],
)
def test_text_without_a_password_is_left_alone(text):
    assert redact(text) == text
    assert not holds_password(text)
