"""Each error has its exit status, and an unknown word its hint."""

import os

from dbdyno.errors import RunFailed, UserError, did_you_mean, system_words


def test_exit_statuses():
    assert (UserError.exit_status, RunFailed.exit_status) == (2, 1)


def test_a_close_word_is_offered_and_a_far_one_is_not():
    assert did_you_mean("clinets", ["clients", "rows"]) == "; did you mean 'clients'?"
    assert did_you_mean("xyz", ["clients", "rows"]) == "."


def test_the_systems_words_stand_within_a_sentence():
    assert system_words(OSError(13, os.strerror(13))) == "permission denied"
    assert system_words(OSError("Too short to be a program")) == "too short to be a program"
