"""An outcome is right only if the trial ran to its end and no operation failed."""

import pytest

from dbdyno.conduct.listener import Listener, Outcome


@pytest.mark.parametrize(
    ("state", "errors", "right"), [("complete", {}, True), ("complete", {"timeout": 1}, False), ("failed", {}, False)]
)
def test_right(state, errors, right):
    assert Outcome(None, state, None, 1, 1.0, errors).right is right


def test_a_listener_that_overrides_nothing_takes_everything():
    listener = Listener()
    for told in (listener.preparation_begins, listener.trial_begins, listener.record_came, listener.trial_ended):
        assert told({}) is None
    assert listener.trials_are_added(2, 1) is listener.steps_are_left_out(2, "flat") is None
    assert listener.run_begins(None, 1, 2) is listener.system_is_skipped("redis", "missing") is None
