"""The table [hosts]."""

import pytest
from pydantic import ValidationError

from dbdyno.errors import UserError
from dbdyno.experiment.hosts import Hosts, check_address, check_name, host_and_port, is_loopback
from dbdyno.experiment.read import read_experiment
from dbdyno.experiment.write import to_toml
from helpers import experiment

TABLE = {"address": "tls://10.0.0.1:8786", "client": ["c1", "c2"]}


def test_a_table_says_who_issues_the_load():
    hosts = experiment(hosts=TABLE).experiment.hosts
    assert hosts == Hosts(address="tls://10.0.0.1:8786", client=["c1", "c2"])
    assert (hosts.if_lost, hosts.wait_seconds) == ("wait", 60)


def test_one_host_needs_no_list():
    assert Hosts(address=TABLE["address"], client="c1").client == ["c1"]


def test_without_the_table_there_are_no_hosts():
    assert experiment().experiment.hosts is None


@pytest.mark.parametrize(
    "address", ["tcp://10.0.0.1:8786", "10.0.0.1:8786", "tls://10.0.0.1", "tls://h:0", "tls://h:70000"]
)
def test_hosts_speak_tls_only(address):
    with pytest.raises(ValueError, match="tls://"):
        check_address(address)


@pytest.mark.parametrize(("address", "parts"), [("tls://[::1]:1", ("::1", 1)), ("tls://a.b:65535", ("a.b", 65535))])
def test_an_address_has_two_parts(address, parts):
    assert host_and_port(check_address(address)) == parts


@pytest.mark.parametrize("name", ["", "conductor", "../x", "a b", "-c", "x" * 64])
def test_a_name_can_name_a_folder_and_is_not_the_conductors(name):
    with pytest.raises(ValueError, match="not a host name"):
        check_name(name)


@pytest.mark.parametrize("client", [[], ["c1", "c1"], ["../c1"]])
def test_wrong_client_hosts_are_refused(client):
    with pytest.raises(ValidationError):
        Hosts(address=TABLE["address"], client=client)


def test_the_server_has_a_host_of_its_own():
    assert Hosts(**TABLE).server == []
    assert Hosts(**TABLE, server="s1").server == ["s1"]
    assert Hosts(**TABLE, server=["s1", "s2"]).server == ["s1", "s2"]
    with pytest.raises(ValidationError, match="start two workers there, each with its name"):
        Hosts(**TABLE, server=["s1", "c2"])
    with pytest.raises(ValidationError, match="not a host name"):
        Hosts(**TABLE, server="../s1")


@pytest.mark.parametrize(
    ("host", "own"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True), ("10.0.0.1", False), ("db", False)],
)
def test_a_loopback_address_is_each_hosts_own(host, own):
    assert is_loopback(host) is own


def test_what_other_hosts_do_not_do_is_an_unknown_key(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(
        'workload = "game"\nsystem = "redis"\nrows = 10\nclients = 1\nseconds = 1\n'
        '[hosts]\naddress = "tls://10.0.0.1:8786"\nclient = "c1"\nobserver = "o1"\n'
    )
    with pytest.raises(UserError, match=r"no key 'hosts.observer'.*The keys are address, client, server"):
        read_experiment(str(file))


def test_the_table_is_written_back():
    assert "[hosts]" in to_toml(experiment(hosts=TABLE, system="redis").experiment)
