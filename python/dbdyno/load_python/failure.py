"""Failures, as a closed table: of an operation by kind, and the end of a plan by status."""

from dbdyno.contract import EndStatus, ErrorKind

KINDS = ("connect", "connection", "timeout", "server", "protocol", "missing", "mismatch", "full", "conflict")
_ENDS_SESSION = ("connect", "connection", "timeout", "protocol")


class Failure(Exception):
    """An operation failed.

    kind: one of KINDS (docs/contract.md, "Error kinds"). message: the library's or the server's own words.
    """

    def __init__(self, kind: ErrorKind, message: str) -> None:
        super().__init__(kind, message)
        self.kind = kind
        self.message = message

    @property
    def ends_session(self) -> bool:
        """True if the session can be used no more and must be opened anew."""
        return self.kind in _ENDS_SESSION


def not_understood(error: Exception, text: str = "") -> Failure:
    """Return the failure that whatever a library raises on an answer means that it does not understand.

    text: the exception's own words if they are not its `str`.
    """
    causes: list[BaseException] = []
    cause: BaseException | None = error
    while cause and cause not in causes:
        causes.append(cause)
        # What fails after memory has run out says only that a file is closed.
        cause = cause.__cause__ or cause.__context__
    if any(isinstance(cause, MemoryError) for cause in causes):
        return Failure("protocol", "an answer has no end, or takes more memory than an answer may")
    if any(isinstance(cause, RecursionError) for cause in causes):
        return Failure("protocol", "an answer nests too deeply for the client library")
    return Failure("protocol", f"{type(error).__name__}: {text or error}")


class Ended(Exception):
    """The plan is not executed, or not to its end.

    status: `interrupted`, `failed` or `refused`, as the record `end` has it. reason: for the user.
    """

    def __init__(self, status: EndStatus, reason: str) -> None:
        super().__init__(status, reason)
        self.status = status
        self.reason = reason
