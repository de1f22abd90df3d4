"""A login that asks too much, or has no end, is refused in words: by the load client and by the driver's process."""

import sys

import pytest

from bounded import run_bounded
from dbdyno.experiment.system_spec import parse_system, with_labels
from dbdyno.systems import build
from fakes import hostile
from fakes.hostile_login import MOST_ROUNDS, PASSWORD, mongodb
from systems.load import ONE_CLIENT, execute


def url_of(port):
    return f"mongodb://u:{PASSWORD}@127.0.0.1:{port}/d"


@pytest.mark.parametrize(
    ("rounds", "words"),
    [
        (MOST_ROUNDS, f"logging in: the server wants {MOST_ROUNDS} rounds of hashing"),
        (4096, "logging in: the server does not end the login"),
    ],
)
def test_the_load_client_refuses_a_login_without_bounds(rounds, words):
    with hostile.server(mongodb(rounds)) as port:
        (spec,) = with_labels([parse_system(url_of(port))])
        ended = execute(build(spec), "point-get", ["prepare"], **ONE_CLIENT)
    assert ended.status == 1
    assert words in ended.records[-1]["reason"]


@pytest.mark.parametrize("rounds", [MOST_ROUNDS, 4096])
def test_dbdyno_ends_whatever_the_driver_is_asked_to_compute(rounds, tmp_path):
    with hostile.server(mongodb(rounds)) as port:
        command = [sys.executable, "-m", "dbdyno", "run", "point-get", "--rows", "10", "--system", url_of(port)]
        ended = run_bounded(command, kill_after_s=120, cwd=tmp_path)
    assert ended.status in (1, 2), ended
    assert "Traceback" not in ended.said and PASSWORD not in ended.said, ended
    assert ended.said.strip().splitlines()[-1].startswith("dbdyno: "), ended
