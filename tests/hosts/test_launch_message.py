"""A start reaches its keeper with all that is no matter of one host."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from dbdyno.hosts.launch_message import launch_of, message_of_launch
from dbdyno.systems.base import Launch


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"server_cpus": (0, 2), "memory_limit_bytes": 1 << 30, "answer_timeout_s": 3.0},
        {"data": Path("/kept/there"), "cold": True},
    ],
)
def test_a_start_is_what_was_sent(keys, tmp_path):
    sent = Launch(None, tmp_path / "here", 8, 100, **keys)
    read = launch_of(json.loads(json.dumps(message_of_launch(sent))), None, tmp_path / "there", "10.0.0.5")
    assert read == replace(sent, log_folder=tmp_path / "there", address="10.0.0.5")
