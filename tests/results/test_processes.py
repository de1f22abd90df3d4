"""CPU over a window that does not begin and end with a sample."""

import json

import pytest

from dbdyno.errors import UserError
from dbdyno.results.processes import read_usage


@pytest.fixture
def write(tmp_path):
    def write(samples):
        path = tmp_path / "processes.jsonl"
        path.write_text(
            "".join(
                json.dumps({"process": name, "pid": pid, "at_unix_s": at, "cpu_s": cpu_s, "resident_bytes": size})
                + "\n"
                for name, pid, at, cpu_s, size in samples
            )
        )
        return path

    return write


def test_cpu_is_interpolated_at_the_windows_ends(write):
    path = write([("redis", 7, at, 0.5 * at, 100 + at) for at in range(10)])
    (used,) = read_usage(path, 2.3, 7.9)
    assert (used.process, used.resident_bytes) == ("redis", 109)
    assert used.cores == pytest.approx(0.5)


def test_a_server_seen_for_too_little_of_the_window_has_no_figure(write):
    path = write([("redis", 7, at, 0.5 * at, 1) for at in range(3)])
    assert read_usage(path, 0, 10)[0].cores is None
    assert read_usage(path, 0, 4)[0].cores == pytest.approx(0.5)
    assert read_usage(path, None, None)[0].cores is None


def test_a_restarted_server_does_not_go_backwards(write):
    before = [("redis", 7, at, 100 + 0.5 * at, 1) for at in range(5)]
    after = [("redis", 8, at, 0.5 * (at - 5), 1) for at in range(5, 10)]
    assert read_usage(write(before + after), 0, 9)[0].cores == pytest.approx(0.5)


def test_no_file_no_usage(tmp_path):
    assert read_usage(tmp_path / "processes.jsonl", 0, 1) == ()


def test_a_sample_that_cannot_be_is_named(write):
    with pytest.raises(UserError, match="line 1"):
        read_usage(write([("redis", 7, None, 1, 1)]), 0, 1)
