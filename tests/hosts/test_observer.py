"""The observations of several server hosts go to a table each, and to that of the trial."""

import json

import pytest

from dbdyno.errors import RunFailed
from dbdyno.hosts.observer import HostsObserver
from dbdyno.results.observations import HOSTS, LINES, close_hosts, read_observations
from dbdyno.results.samples import AT


class Line:
    """A keeper that observes nothing; gone: its host is not there."""

    def __init__(self, not_seen, gone=False) -> None:
        self.called, self._not_seen, self._gone = [], not_seen, gone

    def call(self, verb):
        self.called.append(verb)
        if self._gone:
            raise RunFailed("host s2: lost: silent for 10 s")
        return {"not_seen": self._not_seen, "cpu_s": 0.5}


class Server:
    """A server on another host. rows: where its samples go while it is observed."""

    def __init__(self, host, **line) -> None:
        self.post, self.line, self.rows = type("Post", (), {"host": host}), Line(**line), None
        self.member = type("Member", (), {"name": host})

    def observed(self, rows):
        self.rows = rows
        return _Closing(rows)


class _Closing:
    def __init__(self, rows) -> None:
        self._rows = rows

    def __enter__(self):
        return self._rows

    def __exit__(self, *_):
        self._rows.close()


def sample(server, at_s, value):
    return {AT: at_s, "host.cpu_user_s_total": value, f"process.{server}.threads": value}


def test_each_host_has_its_table_and_the_trial_all_servers(tmp_path):
    servers = [Server("s1", not_seen={}), Server("s2", not_seen={"disk": "no device"})]
    observer = HostsObserver(servers, tmp_path)
    with observer.watching(None, False):
        for second in range(4):
            servers[0].rows.append_object(sample("a", 1000.0 + second, second))
            servers[1].rows.append_object(sample("b", 1000.3 + second, 10 + second))
        lines = [json.loads(line) for line in (tmp_path / LINES).read_text().splitlines()]
        assert lines[1] == {AT: 1000.3, "process.b.threads": 10}
    assert [server.line.called for server in servers] == [["observe", "watch", "unwatch"]] * 2
    assert observer.not_seen == {"disk": "on s2: no device"} and observer.cpu_s == 1.0
    merged = close_hosts(tmp_path, observer.hosts)
    assert merged.columns["host.cpu_user_s_total"].tolist() == [0, 1, 2, 3]
    assert merged.columns["process.b.threads"].tolist() == [10, 11, 12, 13]
    assert read_observations(tmp_path).columns.keys() == merged.columns.keys()
    assert not (tmp_path / LINES).exists()
    assert read_observations(tmp_path / HOSTS / "s2").columns["host.cpu_user_s_total"].tolist() == [10, 11, 12, 13]


def test_one_server_host_needs_no_folder(tmp_path):
    server = Server("s1", not_seen={"disk": "no device"})
    observer = HostsObserver([server], tmp_path)
    with observer.watching(None, False):
        server.rows.append_object(sample("a", 1000.0, 1))
    assert observer.hosts == [] and observer.not_seen == {"disk": "no device"}
    assert not (tmp_path / HOSTS).exists() and (tmp_path / LINES).exists()


def test_a_host_that_is_lost_is_not_the_observers_failure(tmp_path):
    observer = HostsObserver([Server("s1", not_seen={}), Server("s2", not_seen={}, gone=True)], tmp_path)
    with observer.watching(None, False):
        pass
    assert observer.not_seen == {"host": "on s2: host s2: lost: silent for 10 s"}


@pytest.mark.parametrize("hosts", [["s1"], ["s1", "s2"]])
def test_a_trial_in_which_nothing_was_observed_has_no_table(tmp_path, hosts):
    assert close_hosts(tmp_path, hosts) is None
