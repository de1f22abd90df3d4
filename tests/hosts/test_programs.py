"""Hosts with other versions are named."""

from pathlib import Path

import pytest

from dbdyno.hosts.programs import programs, why_different


def test_the_same_programs_are_not_different(tmp_path):
    program = tmp_path / "dbdyno-load"
    program.write_bytes(b"one")
    assert why_different("c1", programs(program), programs(program)) is None


def test_the_load_client_is_known_by_its_content(tmp_path):
    first, other = tmp_path / "one", tmp_path / "other"
    first.write_bytes(b"one")
    other.write_bytes(b"other")
    assert "c1 has dbdyno-load (SHA-256)" in why_different("c1", programs(other), programs(first))


@pytest.mark.parametrize("key", ["dbdyno", "python", "dask", "distributed"])
def test_every_version_counts_and_both_are_said(key):
    ours = programs(Path(__file__))
    reason = why_different("c2", {**ours, key: "0.1"}, ours)
    assert "c2 has" in reason and "0.1" in reason and ours[key] in reason


def test_a_host_that_does_not_say_its_version_is_different():
    assert "unknown" in why_different("c2", {}, programs(Path(__file__)))
