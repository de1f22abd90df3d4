"""Sizes as text."""

import pytest

from dbdyno.experiment.size import check_size, size_bytes


def test_sizes():
    assert (size_bytes("512M"), size_bytes("2G"), size_bytes("1000")) == (512 << 20, 2 << 30, 1000)
    assert size_bytes(" 3 KiB ") == 3 << 10 and check_size("1T") == "1T"


@pytest.mark.parametrize(
    ("size", "why"), [("much", "'much' is not a size"), ("-1", "is not a size"), ("9999T", "at most")]
)
def test_what_is_no_size_is_refused(size, why):
    with pytest.raises(ValueError, match=why):
        check_size(size)
