"""An outcome is right only if the trial ran to its end and no operation failed."""

import pytest

from dbdyno.conduct.listener import Listener, Listeners, Outcome

EVENTS = [name for name in vars(Listener) if not name.startswith("_")]


@pytest.mark.parametrize(
    ("state", "errors", "right"), [("complete", {}, True), ("complete", {"timeout": 1}, False), ("failed", {}, False)]
)
def test_right(state, errors, right):
    assert Outcome(None, state, None, 1, 1.0, errors).right is right


def test_a_listener_that_overrides_nothing_takes_everything():
    listener = Listener()
    for event in (listener.preparation_begins, listener.trial_begins, listener.record_came, listener.trial_ended):
        assert event({}) is None
    assert listener.trials_are_added(2, "undecided") is listener.steps_are_left_out(2, "flat") is None
    assert listener.run_begins(None, 1, 2) is listener.system_is_skipped("redis", "missing") is None


def test_several_listeners_are_told_of_every_event_in_their_order():
    events = []

    class Told(Listener):
        """Notes every event."""

        def __init__(self, name):
            for event in EVENTS:
                setattr(self, event, lambda *what, event=event: events.append((name, event, *what)))

    both = Listeners(Told("first"), Told("second"))
    for event in EVENTS:
        getattr(both, event)("this", event)
    assert events == [(name, event, "this", event) for event in EVENTS for name in ("first", "second")]
