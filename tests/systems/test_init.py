"""Every system there is can be built from its name, and what is none is refused."""

import pytest

from dbdyno.errors import UserError
from dbdyno.experiment.system_spec import parse_system
from dbdyno.systems import ATTACHED, SYSTEMS, missing
from helpers import system


@pytest.mark.parametrize("name", sorted(set(SYSTEMS) - {"cache-aside", "spread"}))
def test_a_system_goes_by_its_name(name):
    assert type(system(name)) is SYSTEMS[name]


@pytest.mark.parametrize("scheme", sorted(ATTACHED))
def test_a_url_goes_by_its_scheme(scheme):
    place = "keyspace" if scheme == "cassandra" else "1"
    assert type(system(f"{scheme}://host/{place}")) is ATTACHED[scheme]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mariadd", "no system 'mariadd'; did you mean 'mariadb'?"),
        ("postgres://h/d", "no URL scheme 'postgres'"),
        ("mariadb(redis)", "is no arrangement"),
        ("cache-aside(memcached, nosuch)", "no system 'nosuch'"),
    ],
)
def test_what_is_no_system_is_refused(text, said):
    with pytest.raises(UserError) as caught:
        system(text)
    assert said in str(caught.value)


def test_what_is_missing_of_an_arrangement_is_what_its_parts_miss(monkeypatch):
    monkeypatch.setattr(SYSTEMS["memcached"], "missing", classmethod(lambda cls: "no memcached"))
    monkeypatch.setattr(SYSTEMS["mariadb"], "missing", classmethod(lambda cls: "no mariadb"))
    assert missing(parse_system("cache-aside(memcached, mariadb)")) == "no memcached; no mariadb"
    assert missing(parse_system("memcached://host")) is None
