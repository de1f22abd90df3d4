"""Given and effective settings, in their units and words."""

import pytest

from dbdyno.systems.postgresql.settings import Setting, is_accepted


def setting(value, kind, unit=None, name="x", source="command line"):
    return Setting(name, value, unit, kind, source, value)


@pytest.mark.parametrize(
    ("there", "given", "accepted"),
    [
        (setting("8192", "integer", "8kB"), "64MB", True),
        (setting("8192", "integer", "8kB"), "65536kB", True),
        (setting("8192", "integer", "8kB"), "8192", True),
        (setting("8192", "integer", "8kB"), "65MB", False),
        (setting("512", "integer", "8kB"), "-1", True),
        (setting("1024", "integer", "MB"), "1GB", True),
        (setting("300", "integer", "s"), "5min", True),
        (setting("300", "integer", "s"), "5parsec", False),
        (setting("200", "integer"), "200", True),
        (setting("200", "integer"), "many", False),
        (setting("1.1", "real"), "1.1", True),
        (setting("1.1", "real"), "1.2", False),
        (setting("2", "real", "ms"), "2000us", True),
        (setting("off", "bool"), "False", True),
        (setting("off", "bool"), "on", False),
        (setting("on", "enum"), "true", True),
        (setting("remote_apply", "enum"), "Remote_Apply", True),
        (setting("local", "enum"), "on", False),
        (setting("a, b", "string"), "a, b", True),
        (setting("a, b", "string"), "A, b", False),
    ],
)
def test_whether_a_setting_was_taken(there, given, accepted):
    assert is_accepted(there, given) is accepted


def test_what_counts_as_changed():
    assert setting("1", "integer", name="work_mem").is_changed
    assert not setting("1", "integer", name="work_mem", source="default").is_changed
    assert not setting("UTF8", "string", name="client_encoding", source="client").is_changed
    assert not setting("secret", "string", name="primary_conninfo").is_changed
    assert not setting("/etc/x", "string", name="hba_file").is_changed
