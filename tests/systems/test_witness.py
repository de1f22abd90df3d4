"""The form in which a store and what should have the same rows are compared."""

from dbdyno.systems.witness import ABSENT, nothing_of


def test_keys_count_from_one_and_no_row_is_no_version():
    versions = nothing_of({"debit": 2, "credit": 0})
    assert versions["debit"].tolist() == [ABSENT] * 3 and versions["credit"].tolist() == [ABSENT]
    assert ABSENT < 0
