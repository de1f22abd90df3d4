"""The program of docs/own-client.md is the load client that the page says it is."""

import json
import re

import pytest

from contract_schema import DOCS, assert_documents
from dbdyno.conduct.listener import Listener
from dbdyno.conduct.run import conduct
from dbdyno.results.read import read_trial
from helpers import experiment, need

(PROGRAM,) = re.findall(r"```python\n(.*?)```", (DOCS / "own-client.md").read_text(), re.DOTALL)
LEAST = {"workload": "point-get", "system": "memcached", "rows": 50, "clients": [2], "seconds": 1, "host": False}


@pytest.fixture
def run(tmp_path):
    """Return a function that runs an experiment through the page's program, and returns its end and its trials."""
    need("memcached")

    def run_with(text=PROGRAM, **keys):
        path = tmp_path / "my-client"
        path.write_text(text)
        path.chmod(0o755)
        end = conduct(experiment(**LEAST | {"client": str(path)} | keys), "dbdyno run", tmp_path / "runs", Listener())
        return end, [read_trial(folder) for folder in sorted(end.folder.glob("trials/*"))]

    return run_with


def test_it_measures_beside_the_native_client(run, tmp_path):
    end, (native, own) = run(client=["native", str(tmp_path / "my-client")])
    assert (end.state, end.reason) == ("complete", None)
    assert (native.label, own.label) == ("memcached", "memcached via my-client")
    assert own.recorded.completed == own.recorded.sums.reads_verified - own.recorded.intervals[0].completed > 0
    # A second through one interpreter is limited by it; what must not be there is a sum that does not add up.
    assert not [warning for warning in own.warnings if "add up" in warning or "accounted for" in warning]
    assert own.recorded.total["in_flight_mean"] == pytest.approx(2, rel=0.02)
    build = own.facts.client_build
    assert (build["path"], build["version"], build["says"]) == (str(tmp_path / "my-client"), "1.0", "my-client 1.0")
    assert native.facts.client_build is None
    lines = (own.folder / "records.jsonl").read_text().splitlines()
    assert_documents(("record", json.loads(line)) for line in lines)


def test_it_refuses_what_it_does_not_do(run):
    end, (trial,) = run(pipeline=[4])
    assert end.state == "failed" and trial.facts.exit_status == 2
    assert trial.facts.reason == "my-client does not know pipeline"


def test_it_refuses_a_plan_of_another_contract(run):
    _, (trial,) = run(PROGRAM.replace('plan["contract"] != 1', 'plan["contract"] != 2'))
    assert trial.facts.reason == "my-client speaks contract 1, and this plan is of contract 1"


def test_it_finds_a_row_that_is_not_what_was_loaded(run):
    end, (trial,) = run(PROGRAM.replace('"xy"', '"xz"'))
    assert end.state == "failed"
    assert re.fullmatch(r"row \d+ is not what was loaded", trial.facts.reason)
