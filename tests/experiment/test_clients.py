"""Clients by name, and how to get one that is not installed."""

import pytest

from dbdyno.experiment.clients import LIBRARIES, NATIVE, Library, check_clients


def test_the_clients_there_are_are_accepted():
    names = [NATIVE, *LIBRARIES]
    assert check_clients(names) == names


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["pymysq"], "no client 'pymysq'.*pymysql.*The clients are native, pymysql, mysqlclient"),
        ([], "at least one client"),
        (["native", "native"], "each once"),
    ],
)
def test_others_are_refused(names, said):
    with pytest.raises(ValueError, match=said):
        check_clients(names)


def test_a_library_knows_whether_it_is_installed_and_how_to_get_it():
    assert LIBRARIES["pymysql"].installed
    gone = Library("gone-py", "is gone", "no_such_module", "gone")
    assert not gone.installed
    assert gone.missing == "gone-py is not installed: pip install 'dbdyno[gone]'"
