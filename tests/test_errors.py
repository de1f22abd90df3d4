"""Each error has its exit status, and an unknown word its hint."""

from dbdyno.errors import RunFailed, UserError, did_you_mean


def test_exit_statuses():
    assert (UserError.exit_status, RunFailed.exit_status) == (2, 1)


def test_a_close_word_is_offered_and_a_far_one_is_not():
    assert did_you_mean("clinets", ["clients", "rows"]) == "; did you mean 'clients'?"
    assert did_you_mean("xyz", ["clients", "rows"]) == "."
