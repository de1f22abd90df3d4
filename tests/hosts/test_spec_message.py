"""A system is read as it was written, but for who logs in."""

import json

import pytest

from dbdyno.hosts.spec_message import message_of, spec_of
from helpers import system


@pytest.mark.parametrize(
    "text", ["redis?maxmemory=64mb", "galera?nodes=2", "replicated(mariadb?sync_binlog=1, mariadb)", "mariadb@11.4"]
)
def test_it_is_the_same_on_the_other_side(text):
    spec = system(text).spec
    assert spec_of(json.loads(json.dumps(message_of(spec)))) == spec


def test_a_password_stays_here():
    written = json.dumps(message_of(system("cache-aside(memcached, mysql://me:secret@10.0.0.1/d)").spec))
    assert "secret" not in written and '"me"' not in written
    assert spec_of(json.loads(written)).parts[1].url.host == "10.0.0.1"
