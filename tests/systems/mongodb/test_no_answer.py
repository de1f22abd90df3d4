"""A command without an answer raises."""

import pytest

from dbdyno.systems.mongodb.no_answer import NoAnswer


@pytest.mark.parametrize("refused", [True, False])
def test_its_text_is_the_servers_and_says_whether_it_answered(refused):
    error = NoAnswer("not authorized on admin", refused)
    assert str(error) == "not authorized on admin"
    assert error.refused is refused
