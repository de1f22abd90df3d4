"""The failures that end a session."""

from dbdyno.load_python.failure import KINDS, Failure


def test_what_leaves_the_connection_in_doubt_ends_the_session():
    ends = [kind for kind in KINDS if Failure(kind, "why").ends_session]
    assert ends == ["connect", "connection", "timeout", "protocol"]
