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


class Ended(Exception):
    """The plan is not executed, or not to its end.

    status: `interrupted`, `failed` or `refused`, as the record `end` has it. reason: for the user.
    """

    def __init__(self, status: EndStatus, reason: str) -> None:
        super().__init__(status, reason)
        self.status = status
        self.reason = reason
