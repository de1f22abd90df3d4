"""Facts that ELF files state, held against binutils and against files that are none."""

import os
import platform
import re
import subprocess
from pathlib import Path

import pytest

from dbdyno.systems.builds.elf import build_id, machine


def program(name):
    """The file of a program of this host."""
    return Path(os.path.realpath(f"/usr/bin/{name}"))


def test_the_build_id_is_the_one_that_readelf_shows():
    path = program("env")
    notes = subprocess.run(["readelf", "--notes", path], capture_output=True, text=True, check=True).stdout
    assert build_id(path) == re.search(r"Build ID: (\w+)", notes)[1]


def test_a_program_of_this_host_is_for_its_processor():
    assert machine(program("env")) == platform.machine()


def test_a_program_for_another_processor_is_told(tmp_path):
    data = bytearray(program("env").read_bytes())
    data[18:20] = (183).to_bytes(2, "little")
    (tmp_path / "arm").write_bytes(data)
    assert machine(tmp_path / "arm") == "aarch64"


@pytest.mark.parametrize(
    "content", [b"", b"#!/bin/sh\n", b"\x7fELF", b"\x7fELF\x02\x01" + b"\xff" * 58, bytes(64)], ids=range(5)
)
def test_what_is_no_whole_program_has_no_build_id(tmp_path, content):
    (tmp_path / "it").write_bytes(content)
    assert build_id(tmp_path / "it") is None


def test_a_program_cut_in_its_notes_has_no_build_id(tmp_path):
    (tmp_path / "cut").write_bytes(program("env").read_bytes()[:600])
    assert build_id(tmp_path / "cut") is None
