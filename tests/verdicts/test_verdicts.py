"""Every cause that is injected gets its verdict, on a real server (`make test-verdicts`; docs/verdicts.md)."""

import json

import pytest

from dbdyno.conduct.run import conduct
from dbdyno.experiment.model import Experiment
from dbdyno.experiment.read import NamedExperiment
from dbdyno.report.document import document
from dbdyno.results.read import read_run
from dbdyno.verdict.decision import FOLLOWED_ENOUGH, FOLLOWED_TOO_FAR
from helpers import need

from .cases import CASES, Case
from .table import VERDICTS

LEAST = {"workload": "point-get", "rows": 20_000, "clients": 16, "seconds": 6, "warmup_seconds": 1}


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=case.name, marks=() if case.quick else pytest.mark.verdicts) for case in CASES]
)
def test_the_cause_is_named(case: Case, tmp_path, request):
    need(case.system.partition("?")[0])
    with case.cause() as (url, listener):
        experiment = Experiment.model_validate(LEAST | {"system": url or case.system} | case.keys)
        end = conduct(NamedExperiment(case.name, experiment), "make test-verdicts", tmp_path, listener)
        (trial,) = document(read_run(end.folder))["trials"]
    verdict = trial["verdict"]
    assert end.state == "complete", end.reason
    request.config.stash[VERDICTS].append((case, verdict))
    assert verdict["limit"] == case.limit, (verdict["sentence"], trial["time_budget"]["bands"])
    assert case.says in verdict["sentence"]
    if case.confirmed:
        (confirmation,) = end.folder.glob("trials/*/confirmation.json")
        assert FOLLOWED_ENOUGH <= json.loads(confirmation.read_text())["followed"] <= FOLLOWED_TOO_FAR
