"""The failures that end a session."""

from dbdyno.load_python.failure import KINDS, Failure, not_understood


def test_what_leaves_the_connection_in_doubt_ends_the_session():
    ends = [kind for kind in KINDS if Failure(kind, "why").ends_session]
    assert ends == ["connect", "connection", "timeout", "protocol"]


def raised(cause):
    """Return the error of a library that cleans up after another error."""
    try:
        try:
            raise cause
        finally:
            raise ValueError("I/O operation on closed file")
    except ValueError as error:
        return error


def test_what_ran_out_is_told_and_not_what_failed_after_it():
    assert "takes more memory than" in not_understood(raised(MemoryError())).message
    assert "nests too deeply" in not_understood(raised(RecursionError())).message
    assert not_understood(raised(KeyError("x"))).message == "ValueError: I/O operation on closed file"
    assert not_understood(KeyError("x"), "own words").message == "KeyError: own words"
