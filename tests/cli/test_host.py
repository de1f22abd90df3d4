"""The host as a table and as JSON; a disk that cannot be measured is said."""

import json
import socket
from contextlib import suppress
from dataclasses import replace
from threading import Thread

import pytest

from dbdyno.cli import host
from dbdyno.observe.gauges import measure
from dbdyno.observe.gauges.network import answer


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(host, "FULL", replace(measure.SHORT))


def test_every_figure_has_its_unit(dbdyno, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    status, out, _ = dbdyno("host", "--directory", str(tmp_path))
    assert status == 0
    gauges = out.partition("reading in order")[0]
    assert "GB/s" in out and "million steps/s" in out and "not measured" not in gauges.replace("two CPUs", "")
    assert "█" in out and max(map(len, out.splitlines()[:-1])) <= 80
    assert f"disk of {tmp_path}, by dbdyno" in " ".join(out.split())


@pytest.fixture
def other_host():
    """Yield the port of a `dbdyno host --answer` on loopback."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        Thread(target=answering, args=(listener,), daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


def answering(listener):
    """Answer until the listener is shut down."""
    with suppress(OSError):
        answer(listener)


def test_the_network_to_another_host_has_its_lines(dbdyno, other_host, tmp_path, monkeypatch):
    monkeypatch.setattr(host, "NETWORK_S", 0.05)
    monkeypatch.setenv("COLUMNS", "80")
    status, out, _ = dbdyno("host", "--directory", str(tmp_path), "--to", f"127.0.0.1:{other_host}")
    assert status == 0 and max(map(len, out.splitlines()[:-1])) <= 80
    assert f"network to 127.0.0.1:{other_host}, one connection" in out
    for line in ("round trip to the other host, median", "bytes to the other host", "bytes from the other host"):
        assert line in out


def test_the_disk_under_four_threads_is_measured_here_alone(dbdyno, tmp_path, monkeypatch):
    monkeypatch.setattr(host, "FULL", replace(measure.SHORT, parallel_s=0.05))
    _, out, _ = dbdyno("host", "--json", "--directory", str(tmp_path))
    disk = json.loads(out)["parallel_disk"]
    assert all(disk[what]["per_s"] > 0 for what in ("write", "read", "random_write"))
    assert "parallel_disk" not in measure.measure_host(tmp_path)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--to", "h"], "--to h: give HOST:PORT"),
        (["--to", "h:0"], "--to h:0: give HOST:PORT"),
        (["--answer", "x"], "--answer x: give PORT or ADDRESS:PORT"),
        (["--answer", "192.0.2.1:7800"], "--answer 7800:"),
        (["--to", "h:1", "--answer", "1"], "give one of them"),
    ],
)
def test_what_names_no_place_is_refused(dbdyno, options, said):
    status, _, err = dbdyno("host", *options)
    assert status == 2 and said in err


def test_where_nobody_answers_the_way_is_named(dbdyno):
    status, _, err = dbdyno("host", "--to", "127.0.0.1:1")
    assert status == 1 and "is `dbdyno host --answer 1` running there?" in err


def test_json_is_one_document(dbdyno):
    status, out, _ = dbdyno("host", "--json")
    assert status == 0 and json.loads(out)["processor"]["slots"]


def test_a_gauge_that_cannot_be_read_is_named(dbdyno, monkeypatch):
    def refuse(directory, seconds):
        raise OSError("no room")

    monkeypatch.setattr(measure, "measure_storage", refuse)
    _, out, _ = dbdyno("host")
    assert "disk: no room" in out and "not measured" in out
