"""No text of a table holds a password."""

import pytest

from dbdyno.results.conclusions import NextStep, Verdict
from dbdyno.tables.redaction import redacted, redacted_document, redacted_setting


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("mysql://me:hidden@db/test refused", "mysql://me:***@db/test refused"),
        ("redis requirepass=hidden maxmemory=1gb", "redis requirepass=*** maxmemory=1gb"),
        ("wsrep_sst_auth=me:hidden", "wsrep_sst_auth=***"),
        ("login with PASSWORD: hidden, again", "login with PASSWORD: ***, again"),
        ("default_authentication_plugin=x", "default_authentication_plugin=x"),
        ("mariadb at 127.0.0.1:3306", "mariadb at 127.0.0.1:3306"),
    ],
)
def test_passwords_are_taken_out(text, safe):
    assert redacted([text, None]) == [safe, None]


def test_all_of_a_secret_setting_is_taken_out():
    assert redacted_setting("masterauth", "two words") == "masterauth=***"
    assert redacted_setting("io-threads", "2") == "io-threads=2"


def test_a_document_has_none_in_keys_and_values():
    url = "mysql://me:hidden@db/test"
    document = {"limits": {url: ["disk", (url, 1.5, None)]}, "settings": {"masterauth": "hidden words", "hz": "10"}}
    safe = "mysql://me:***@db/test"
    assert redacted_document(document) == {
        "limits": {safe: ["disk", [safe, 1.5, None]]},
        "settings": {"masterauth": "***", "hz": "10"},
    }


def test_what_was_concluded_has_none_in_its_texts():
    step = NextStep("try it", "dbdyno run game --system mysql://me:hidden@db/test")
    verdict = Verdict("disk", "The disk of mysql://me:hidden@db.", ("12 of 16",), None, "high", (step,))
    safe = redacted_document({"verdict": verdict})["verdict"]
    assert "hidden" not in str(safe) and safe.evidence == ("12 of 16",)
    assert safe.next[0].command == "dbdyno run game --system mysql://me:***@db/test"
