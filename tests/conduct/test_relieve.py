"""One thing is changed for one more run of the load, and changed back."""

import os
from contextlib import nullcontext
from dataclasses import replace

import pytest

from dbdyno.conduct import relieve
from dbdyno.conduct.plan import Plan
from dbdyno.conduct.relieve import change_of
from dbdyno.errors import UserError
from dbdyno.systems.live_settings import LiveSetting
from helpers import system
from verdict.made import trial

PLAN = Plan(("run",), {}, None, "run")


class Changing:
    """A running system with one setting."""

    def __init__(self, live=None, value="4"):
        self.spec = system("mariadb").spec
        self.live, self.value, self.history = live, value, []

    def live_setting(self, limit):
        return self.live if limit == "checkpoint" else None

    def setting(self, name):
        return self.value

    def change_setting(self, name, value):
        self.value = value
        self.history.append((name, value))

    def addresses(self):
        return {"mariadb": ("127.0.0.1", 3307)}

    def server_pids(self):
        return {"mariadb": os.getpid()}


def test_a_setting_is_doubled_meanwhile():
    changing = Changing(LiveSetting("innodb_log_file_size"), "4194304")
    change = change_of(changing, PLAN, trial(), "checkpoint")
    assert change.how == "innodb_log_file_size=8388608 instead of 4194304"
    assert change.plan is PLAN and change.grows
    assert changing.history == []
    with pytest.raises(RuntimeError), change.made():
        assert changing.value == "8388608"
        raise RuntimeError("the run failed")
    assert changing.value == "4194304"


def test_a_setting_that_could_not_be_changed_back_is_left_as_it_is():
    live = LiveSetting("log", least=16)
    with pytest.raises(UserError, match="a running server takes no log below 16, so 4 could not be set again"):
        change_of(Changing(live, "4"), PLAN, trial(), "checkpoint")
    assert change_of(Changing(live, "16"), PLAN, trial(), "checkpoint").how == "log=32 instead of 16"


def test_a_setting_that_gives_durability_up_says_so():
    changing = Changing(LiveSetting("sync", "off", "not durable"), "on")
    assert change_of(changing, PLAN, trial(), "checkpoint").how == "sync=off instead of on (not durable)"
    with pytest.raises(UserError, match="sync is off already"):
        change_of(Changing(LiveSetting("sync", "off"), "off"), PLAN, trial(), "checkpoint")


def test_a_longer_way_is_injected():
    change = change_of(Changing(), replace(PLAN, network_delay_us=2000), trial(), "network")
    assert change.plan.network_delay_us == 2500 and not change.grows
    assert change.how == "an injected delay of 2,500 µs instead of 2,000 µs"
    assert isinstance(change.made(), nullcontext)


@pytest.mark.parametrize("limit", ["lock", "memory"])
def test_what_nothing_moves(limit):
    with pytest.raises(UserError, match=f"the limit '{limit}' cannot be reduced"):
        change_of(Changing(), PLAN, trial(), limit)


@pytest.mark.parametrize("name", ["mariadb", "mysql://root@127.0.0.1:3307/bench"])
def test_a_link_that_dbdyno_did_not_delay_is_left_as_it_is(name):
    running = Changing()
    running.spec = system(name).spec
    with pytest.raises(UserError, match="dbdyno does not change the link lo"):
        change_of(running, PLAN, trial(), "network")


def test_a_server_of_somebody_elses_is_left_as_it_is():
    attached = Changing(LiveSetting("innodb_log_file_size"))
    attached.spec = system("mysql://root@127.0.0.1:3307/bench").spec
    with pytest.raises(UserError, match="dbdyno did not start the server, so it changes none of its settings"):
        change_of(attached, PLAN, trial(), "checkpoint")


def test_a_servers_own_group_gets_more_memory_meanwhile(monkeypatch, tmp_path):
    files = [tmp_path / name for name in ("memory.memsw.limit_in_bytes", "memory.limit_in_bytes")]
    for file in files:
        file.write_text("67108864")
    monkeypatch.setattr(relieve, "groups_of", lambda pid, root: {"memory": [tmp_path, tmp_path.parent]})
    change = change_of(Changing(), PLAN, trial(memory_limit_bytes=64 << 20), "memory")
    assert change.how == "128 MiB of memory instead of 64 MiB"
    with change.made():
        assert [file.read_text() for file in files] == ["134217728"] * 2
    assert [file.read_text() for file in files] == ["67108864"] * 2
