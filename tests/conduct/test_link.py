"""A link that somebody shaped: what would narrow it, and that dbdyno does not."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from dbdyno.conduct import link
from dbdyno.conduct.link import why_not_narrowed

PROGRAM = """
from dbdyno.conduct.link import why_not_narrowed
class Attached:
    def addresses(self):
        return {"mariadb": ("127.0.0.1", 3306)}
print(why_not_narrowed(Attached()))
"""


class Attached:
    def __init__(self, host="127.0.0.1"):
        self.host = host

    def addresses(self):
        return {"mariadb": (self.host, 3306)}


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("tc"), reason="needs its own network namespace")
def test_a_shaped_link_is_named_with_the_command_that_takes_a_fifth_of_it():
    shape = "tc qdisc add dev lo root tbf rate 200mbit burst 128k latency 50ms"
    script = f'ip link set lo up && {shape} && "$0" -c "$1" && tc -j qdisc show dev lo'
    argv = ["unshare", "--net", "sh", "-c", script, sys.executable, PROGRAM]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if "unshare failed" in done.stderr:
        pytest.skip("this host makes no network namespaces")
    said, _, after = done.stdout.partition("\n")
    narrowed = "tc qdisc change dev lo root tbf rate 160mbit burst 128k latency 50ms"
    assert said == (
        f"dbdyno does not change the link lo. Take a fifth of its 200 Mbit/s as root, and run again: {narrowed}"
    ), done.stderr
    assert json.loads(after)[0]["options"]["rate"] * 8 == 200_000_000
    again = f"ip link set lo up && {shape} && {narrowed} && tc -j qdisc show dev lo"
    done = subprocess.run(["unshare", "--net", "sh", "-c", again], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)[0]["options"]["rate"] * 8 == 160_000_000


def test_an_interface_has_the_speed_that_its_driver_states(monkeypatch, tmp_path):
    answers = {"ip": [{"dev": "eth7"}], "tc": [{"kind": "mq", "root": True, "options": {}}]}
    monkeypatch.setattr(link, "_answered", lambda *command: answers[command[0]])
    monkeypatch.setattr(link, "INTERFACES", tmp_path)
    (tmp_path / "eth7").mkdir()
    (tmp_path / "eth7" / "speed").write_text("10000\n")
    said = why_not_narrowed(Attached("192.0.2.1"))
    assert "Take a fifth of its 10000 Mbit/s" in said and "tc qdisc add dev eth7 root tbf rate 8000mbit" in said
    (tmp_path / "eth7" / "speed").write_text("-1\n")
    said = why_not_narrowed(Attached("192.0.2.1"))
    assert said.endswith("its bandwidth is unknown. See whether it is shaped: tc qdisc show dev eth7")


def test_without_the_tools_the_bandwidth_is_not_known(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(link, "INTERFACES", tmp_path)
    assert "dbdyno does not change the link lo, and its bandwidth is unknown" in why_not_narrowed(Attached())
