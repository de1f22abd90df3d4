"""A running server takes settings of InnoDB, and says which it does not take."""

import pytest

from dbdyno.errors import UserError
from helpers import system


def test_a_setting_is_changed_while_it_runs(started):
    server = started("mariadb?innodb_log_file_size=8M")
    assert int(server.setting("innodb_log_file_size")) == 8 << 20
    server.change_setting("innodb_log_file_size", str(16 << 20))
    assert int(server.setting("innodb_log_file_size")) == 16 << 20
    with pytest.raises(UserError, match="does not take innodb_page_size=1 while it runs"):
        server.change_setting("innodb_page_size", "1")
    assert server.live_setting("checkpoint").name == "innodb_log_file_size"
    assert system("mariadb?engine=Aria").live_setting("checkpoint") is None
