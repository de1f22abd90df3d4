"""Every text ends in tables or in words."""

import pytest

from dbdyno.experiment.toml import parse_toml


def test_tables():
    assert parse_toml("a.b = [1, {c = 2}]") == {"a": {"b": [1, {"c": 2}]}}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = " + "[" * 5000, "more than 32 deep"),
        ("a = " + "[" * 5000 + "]" * 5000, "more than 32 deep"),
        ("a" + ".a" * 3000 + " = 1", "more than 32 deep"),
        ("a = " + "9" * 5000, "4300 digits"),
        ("a = ", "Invalid value"),
    ],
    ids=lambda text: text[:12],
)
def test_what_is_none_is_said(text, said):
    with pytest.raises(ValueError, match=said):
        parse_toml(text)
