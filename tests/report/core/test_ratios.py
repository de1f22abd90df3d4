"""A comparison can be turned around, and a limit is named by its noun."""

import pytest

from dbdyno.report.core.ratios import limit_of, turned
from dbdyno.results.conclusions import Verdict


def test_sides_are_exchanged_with_their_interval():
    cell = {"ratio": 2.0, "low": 1.6, "high": 2.5, "verdict": "faster", "pairs": 5, "margin": 0.02, "noise": 0.0}
    cell |= {"reason": None, "p_holm": 0.01, "least": False}
    around = turned(cell, True)
    assert (around["ratio"], around["low"], around["high"], around["verdict"]) == (0.5, 0.4, 0.625, "slower")
    assert turned(cell, False)["verdict"] == "faster"


@pytest.mark.parametrize(
    ("verdict", "limited", "said"),
    [
        (Verdict("commit", "", (), None, "high"), False, "the flush at commit"),
        (Verdict("something new", "", (), None, "low"), False, "something new"),
        (None, True, "the client"),
        (None, False, "not observed"),
    ],
)
def test_what_limited_a_trial_in_a_few_words(verdict, limited, said):
    assert limit_of({"verdict": verdict, "client_limited": limited}) == said
