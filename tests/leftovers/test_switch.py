"""dbdyno switches off what it switched on once nobody needs it, and nothing else."""

import os

import pytest

from dbdyno.leftovers import switch
from dbdyno.leftovers.switch import switch_off, switch_on


@pytest.fixture
def setting(tmp_path):
    path = tmp_path / "setting"
    path.write_text("0")
    return path


def test_it_is_on_as_long_as_somebody_holds_it(setting, tmp_path):
    users = tmp_path / "users"
    first, second = switch_on(setting, users), switch_on(setting, users)
    assert setting.read_text() == "1"
    os.close(first)
    switch_off(setting, users)
    assert setting.read_text() == "1"
    os.close(second)
    switch_off(setting, users)
    assert setting.read_text() == "0"


def test_what_the_owner_of_the_host_switched_on_stays_on(setting, tmp_path):
    setting.write_text("1\n")
    assert switch_on(setting, tmp_path / "users") is None
    switch_off(setting, tmp_path / "users")
    assert setting.read_text() == "1\n"


def test_what_was_switched_on_before_the_host_was_started_again_is_not_ours(setting, tmp_path, monkeypatch):
    users = tmp_path / "users"
    os.close(switch_on(setting, users))
    monkeypatch.setattr(switch, "_boot", lambda: "another")
    switch_off(setting, users)
    assert setting.read_text() == "1"


def test_what_cannot_be_switched_on_is_not_ours(setting, tmp_path, monkeypatch):
    users = tmp_path / "users"

    def refuse(*_):
        raise PermissionError

    with monkeypatch.context() as patch:
        patch.setattr(type(setting), "write_text", refuse)
        with pytest.raises(PermissionError):
            switch_on(setting, users)
    setting.write_text("1")
    switch_off(setting, users)
    assert setting.read_text() == "1"
