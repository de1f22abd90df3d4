"""The address in a URL, and the source of its password."""

import pytest

from dbdyno.errors import UserError
from dbdyno.experiment.password import VARIABLE as PASSWORD_VARIABLE
from dbdyno.experiment.system_spec import parse_system
from dbdyno.systems.running.endpoint import Endpoint, endpoint_of, refuse_server_settings


def endpoint(text):
    return endpoint_of(parse_system(text).url, 3306)


def test_the_password_of_the_url_goes_first(monkeypatch):
    monkeypatch.setenv(PASSWORD_VARIABLE, "other")
    assert endpoint("mysql://u:own@h/d").password == "own"
    assert endpoint("mysql://u@h/d").password == "other"
    assert endpoint("mysql://u:***@h/d").password == "other"
    assert endpoint("mysql://h/d").password is None


def test_a_password_that_was_taken_out_must_be_given_again(monkeypatch):
    monkeypatch.delenv(PASSWORD_VARIABLE, raising=False)
    assert endpoint("mysql://u@h/d").password is None
    with pytest.raises(UserError, match=PASSWORD_VARIABLE):
        endpoint("mysql://u:***@h/d")


def test_address_and_secret_are_as_the_contract_has_them():
    secrets = ["first"]
    endpoint = Endpoint("h", 1, None, "u", "pw")
    assert endpoint.address() == {"host": "h", "port": 1}
    assert endpoint.secret(secrets) == {"secret": 1} and secrets == ["first", "pw"]
    assert "pw" not in repr(endpoint)
    assert Endpoint(socket="/s").address() == {"unix": "/s"} and Endpoint(socket="/s").secret(secrets) is None


@pytest.mark.parametrize("socket", ["run/mysqld.sock", "/" + "a" * 107])
def test_a_path_that_no_socket_can_have_is_refused(socket):
    with pytest.raises(UserError, match="whole path of the server's Unix socket, which has at most 107 bytes"):
        endpoint(f"mysql://u@/d?socket={socket}")


def test_that_clients_take_the_socket_is_shown():
    assert Endpoint(socket="/s").effective_settings() == {"connect": "socket"}
    assert Endpoint("h", 1).effective_settings() == {}


def test_a_setting_of_somebody_elses_server_is_refused():
    spec = parse_system("mysql://h/d?engine=Aria&sync_binlog=1")
    with pytest.raises(UserError, match="dbdyno did not start this server, so it does not change 'sync_binlog'"):
        refuse_server_settings(spec, ("engine",))
