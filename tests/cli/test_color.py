"""Colours by `--color`, by NO_COLOR, and by where the output goes."""

import pytest

from synthetic_run import SYSTEMS, write_run

ESCAPE = "\x1b["


@pytest.fixture
def run(tmp_path):
    return str(write_run(tmp_path / "run", SYSTEMS[:2], clients=(1, 2)))


@pytest.mark.parametrize(
    ("arguments", "environment", "coloured"),
    [
        ([], {}, False),
        (["--color", "auto"], {}, False),
        (["--color", "always"], {}, True),
        (["--color", "always"], {"NO_COLOR": "1"}, True),
        (["--color", "always"], {"TERM": "dumb"}, True),
        (["--color", "never"], {"FORCE_COLOR": "1"}, False),
        ([], {"FORCE_COLOR": "1"}, True),
        ([], {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ([], {"FORCE_COLOR": "1", "NO_COLOR": ""}, True),
    ],
    ids=str,
)
def test_what_is_asked_for_is_done(dbdyno, run, monkeypatch, arguments, environment, coloured):
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    status, out, _ = dbdyno("show", run, *arguments)
    assert status == 0 and (ESCAPE in out) == coloured
    assert dbdyno(*arguments, "show", run)[1] == out


def test_another_choice_is_refused(dbdyno):
    status, _, err = dbdyno("list", "--color", "blue")
    assert status == 2 and "'blue' is not one of 'auto', 'always', 'never'" in err


def test_every_command_says_so_in_its_help(dbdyno):
    for command in ("run", "list", "compare", "systems"):
        assert "--color [auto|always|never]" in dbdyno(command, "--help")[1]
