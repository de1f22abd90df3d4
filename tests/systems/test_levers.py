"""Every setting that should move a limit is one that its system takes, for a limit of the table."""

import pytest

from dbdyno.systems import SYSTEMS
from dbdyno.verdict.limits import LIMITS
from helpers import system

LEVERS = [
    (name, limit, setting)
    for name, kind in SYSTEMS.items()
    if not kind.takes_parts
    for limit, setting in kind.levers.items()
]


@pytest.mark.parametrize(("name", "limit", "setting"), LEVERS)
def test_a_lever_is_a_setting_of_its_system(name, limit, setting):
    key, _, value = setting.partition("=")
    assert limit in LIMITS
    assert system(f"{name}?{setting}").spec.settings == {key: value}


def test_a_flush_can_be_left_out_in_every_store_that_flushes():
    flushing = ("sqlite", "lmdb", "rocksdb", "tokyocabinet", "redis", "mariadb", "postgresql")
    assert all("commit" in SYSTEMS[name].levers for name in flushing)
