"""Settings that Tokyo Cabinet would silently take as something else."""

import pytest

from dbdyno.errors import UserError
from helpers import system


def test_fewer_leaves_than_it_keeps_are_refused():
    with pytest.raises(UserError, match="keeps at least 64: give that"):
        system("tokyocabinet?type=tree&cached_leaves=63")
    assert system("tokyocabinet?type=tree&cached_leaves=64").settings()["cached_leaves"] == 64
