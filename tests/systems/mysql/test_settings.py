"""Options, and the variables they end up in."""

import pytest

from dbdyno.errors import UserError
from dbdyno.systems.mysql.settings import RESERVED, refuse_reserved, wanted_variables

VARIABLES = {"log_bin": "ON", "innodb_buffer_pool_size": "1", "innodb_doublewrite": "ON", "skip_name_resolve": "ON"}


@pytest.mark.parametrize(
    ("option", "value", "wanted"),
    [
        ("innodb-buffer-pool-size", "64M", {"innodb_buffer_pool_size": "64M"}),
        ("skip_name_resolve", "", {"skip_name_resolve": "ON"}),
        ("skip_innodb_doublewrite", "", {"innodb_doublewrite": "OFF"}),
        ("log_bin", "files", {"log_bin": "ON"}),
        ("log_bin", "off", {"log_bin": "OFF"}),
        ("loose_innodb_buffer_pool_size", "64M", {"innodb_buffer_pool_size": "64M"}),
        ("plugin_load_add", "x", {}),
    ],
)
def test_an_option_stands_for_a_variable(option, value, wanted):
    assert wanted_variables("s", {option: value}, VARIABLES) == wanted


def test_a_name_is_written_in_full():
    with pytest.raises(
        UserError, match="'innodb_buffer' is the beginning of a name: write all of it, such as innodb_b"
    ):
        wanted_variables("s", {"innodb_buffer": "64M"}, VARIABLES)


@pytest.mark.parametrize(
    ("option", "taken"),
    [
        ("basedi", "basedir"),
        ("loose-skip_netw", "networking"),
        ("skip-grant-tables", "grant_tables"),
        ("maximum-extra-port", "extra_port"),
        ("LOOSE_Enable-Daemonize", "daemonize"),
        ("loose_", "admin_address"),
    ],
)
def test_an_option_that_is_taken_for_one_of_dbdynos_is_refused(option, taken):
    with pytest.raises(UserError, match=f"the server reads '{option}' as {taken}, which dbdyno sets"):
        refuse_reserved("s", [option], RESERVED)
    refuse_reserved("s", ["log_bin", "skip_name_resolve", "loose_innodb_doublewrite"], RESERVED)


def test_an_option_that_nothing_shows_is_an_error():
    with pytest.raises(UserError, match="accepts 'innodb_buffer_pool_instances' and shows no such variable"):
        wanted_variables("s", {"innodb_buffer_pool_instances": "4"}, VARIABLES)
    with pytest.raises(UserError, match="accepts 'loose_no_such' and shows no such variable"):
        wanted_variables("s", {"loose_no_such": "1"}, VARIABLES)
