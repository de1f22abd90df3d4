"""The conductor's connection to a keeper."""

import ssl
from concurrent.futures import ThreadPoolExecutor

import pytest

from dbdyno.errors import RunFailed, UserError
from dbdyno.hosts.certificates import Certificates
from dbdyno.hosts.crew import Member
from dbdyno.hosts.line import Line
from dbdyno.systems.running.ports import free_port


@pytest.fixture
def conductor(certificates):
    return Certificates.of(certificates, "conductor").context(ssl.Purpose.SERVER_AUTH)


@pytest.fixture
def line(start_agent, conductor):
    line = Line(start_agent("s1").member, conductor, lambda message: None)
    yield line
    line.close()


def test_calls_are_answered_and_refusals_are_those_of_the_keeper(line):
    assert line.call("describe", systems=[], memory_limit_bytes=None)["missing"] == {}
    with pytest.raises(UserError, match="no system was started"):
        line.call("restart")
    with pytest.raises(UserError, match="there is no call 'sing'"):
        line.call("sing")
    assert not line.waits and line.lost is None


def test_threads_that_call_at_once_get_their_own_answers(line):
    def key_of_answer(number):
        if number % 2:
            return "address" in line.call("find_place")
        return "missing" in line.call("describe", systems=[], memory_limit_bytes=None)

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(key_of_answer, range(80)))


def test_a_line_that_was_closed_answers_no_more(line):
    line.close()
    assert line.lost == "the keeper of its servers ended with status 0"
    with pytest.raises(RunFailed, match="host s1: the keeper of its servers ended"):
        line.call("stop")


def test_a_host_that_is_not_there_is_named(conductor):
    with pytest.raises(RunFailed, match=r"host s1: lost: cannot be reached at 127.0.0.1:"):
        Line(Member("s1", "s1", "127.0.0.1", free_port(), 1), conductor, lambda message: None)


def test_another_host_at_its_port_is_not_called(start_agent, conductor):
    member = start_agent("c1").member
    with pytest.raises(RunFailed, match="is the host c1, by its certificate"):
        Line(Member("s1", "s1", member.host, member.port, 1), conductor, lambda message: None)
