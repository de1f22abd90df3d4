"""Accounting is turned on where it may be, and whoever turned it on says so first."""

import pytest

from dbdyno.observe.delay_accounting import account_delays, missing


@pytest.fixture
def told():
    return []


def test_it_is_turned_on_and_the_guard_told(tmp_path, told):
    setting = tmp_path / "task_delayacct"
    setting.write_text("0")
    assert "sysctl" in missing(setting)
    account_delays(lambda *said: told.append((*said, setting.read_text())), setting)
    assert missing(setting) is None
    assert told == [("switched-on", setting, "0")]


def test_what_is_on_is_left_alone(tmp_path, told):
    setting = tmp_path / "task_delayacct"
    setting.write_text("1\n")
    account_delays(lambda *said: told.append(said), setting)
    assert told == []


def test_a_kernel_without_it_is_left_alone(tmp_path, told):
    account_delays(lambda *said: told.append(said), tmp_path / "none")
    assert "this kernel" in missing(tmp_path / "none") and told == []
