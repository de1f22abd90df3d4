"""A run goes on if its outputs end before it."""

import os
import sys
from contextlib import closing

import pytest
from rich.console import Console

from dbdyno.cli.tolerant_output import TolerantStream, outputs_may_end


@pytest.fixture
def pipe():
    """A pipe that is written to in text, and the end that is read."""
    reading, writing = os.pipe()
    with closing(open(writing, "w", buffering=1)) as stream:
        yield stream, reading


def test_what_is_read_arrives_and_what_nobody_reads_goes_nowhere(pipe, capfd):
    stream, reading = pipe
    lasting = TolerantStream(stream)
    console = Console(file=lasting)
    console.print("first")
    assert os.read(reading, 100) == b"first\n"
    os.close(reading)
    console.print("second")
    assert lasting.write("third\n") == 6
    lasting.flush()
    assert capfd.readouterr() == ("", "")


def test_a_full_disk_is_said_once(capfd):
    with open("/dev/full", "w", buffering=1) as full:
        lasting = TolerantStream(full)
        for line in ("first\n", "second\n"):
            lasting.write(line)
    assert capfd.readouterr().err == "dbdyno: no more can be printed: No space left on device; the run goes on\n"


def test_an_output_that_never_was_stays_none(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    with outputs_may_end():
        assert sys.stdout is None and isinstance(sys.stderr, TolerantStream)
    assert not isinstance(sys.stderr, TolerantStream)
