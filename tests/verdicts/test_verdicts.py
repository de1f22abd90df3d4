"""The quick causes get their verdicts on real servers, and the cases are what they claim; all: `make test-verdicts`."""

import pytest

from .case import Case, Variant, accepted
from .cases import CASES
from .grade import Grade
from .runs import read, run
from .stage import CannotInject


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES if case.quick])
def test_the_cause_and_no_other_is_named(case: Case, tmp_path):
    try:
        run(case, Variant.UNPINNED, tmp_path)
    except CannotInject as error:
        pytest.skip(str(error))
    verdict = read(case, Variant.UNPINNED, 1, tmp_path)
    # A busy host can hide the evidence. Then no other cause may be named.
    assert verdict.grade in (Grade.RIGHT, Grade.UNKNOWN), (verdict.limit, verdict.confidence, verdict.sentence)


def test_there_are_enough_cases_of_either_set_and_each_has_its_own_name():
    names = [*(case.name for case in CASES), *{case.load.name for case in CASES}]
    assert len(CASES) >= 40
    assert len(set(names)) == len(names)
    assert min(sum(case.held_out for case in CASES), sum(not case.held_out for case in CASES)) >= 20


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case_differs_from_its_control_and_can_be_told_from_it(case: Case):
    assert case.causes or case.system or case.keys or case.attached is not None
    for variant in case.ways:
        assert accepted(case, variant)
