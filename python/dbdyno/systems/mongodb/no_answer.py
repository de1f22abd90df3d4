"""The error of a command to a server of the MongoDB protocol that has no answer."""


class NoAnswer(Exception):
    """The server did not answer a command, or refused it. refused: it answered, with an error."""

    def __init__(self, message: str, refused: bool) -> None:
        super().__init__(message)
        self.refused = refused
