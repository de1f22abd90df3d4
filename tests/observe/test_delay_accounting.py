"""Accounting is requested whether it is on or not, and its absence is reported."""

import pytest

from dbdyno.observe.delay_accounting import account_delays, missing


@pytest.mark.parametrize("before", ["0", "1\n"])
def test_it_is_asked_for_whether_it_is_on_or_not(tmp_path, before):
    setting, asked = tmp_path / "task_delayacct", []
    setting.write_text(before)
    account_delays(asked.append, setting)
    assert asked == [setting]


def test_what_is_not_permitted_is_no_error(tmp_path):
    def refuse(setting):
        raise PermissionError

    account_delays(refuse, tmp_path / "task_delayacct")


def test_where_it_is_off_or_not_there_that_is_said(tmp_path):
    setting = tmp_path / "task_delayacct"
    assert "this kernel" in missing(setting)
    setting.write_text("0")
    assert "sysctl" in missing(setting)
    setting.write_text("1")
    assert missing(setting) is None
