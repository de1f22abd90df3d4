"""Several connections ask at once, and all of them are closed."""

import threading

import pytest

from dbdyno.conduct.streams import Streams

PATIENCE_S = 30


class Analyst:
    """Answers when all streams have asked; a query `bad` fails in one of them."""

    error = (ValueError,)
    pid = 7

    def __init__(self, number, meeting):
        self.number, self.meeting, self.closed, self.cancelled = number, meeting, False, False

    def ask(self, sql):
        if sql == "bad" and self.number == 1:
            raise ValueError("no")
        if sql == "together":
            self.meeting.wait(PATIENCE_S)
        return [(self.number,)]

    def cancel(self):
        self.cancelled = True

    def close(self):
        self.closed = True


class System:
    """Gives an analyst for each connection, up to a number."""

    def __init__(self, count, most=9):
        self.meeting, self.made, self.most = threading.Barrier(count), [], most

    def analyst(self):
        if len(self.made) == self.most:
            raise RuntimeError("too many connections")
        self.made.append(Analyst(len(self.made), self.meeting))
        return self.made[-1]


def test_all_streams_ask_at_once():
    system = System(3)
    streams = Streams(system, 3)
    # None is answered before the last one has asked.
    assert streams.ask("together") == [[(0,)], [(1,)], [(2,)]]
    assert streams.ask_once("alone") == [[(0,)]] and streams.error == (ValueError,)
    assert streams.pid == 7
    with pytest.raises(ValueError, match="no"):
        streams.ask("bad")
    streams.cancel()
    streams.close()
    assert all(analyst.cancelled and analyst.closed for analyst in system.made)


def test_if_one_cannot_connect_the_others_are_closed():
    system = System(3, most=2)
    with pytest.raises(RuntimeError, match="too many"):
        Streams(system, 3)
    assert len(system.made) == 2 and all(analyst.closed for analyst in system.made)
