"""The password of a server that dbdyno starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dbdyno.later import LaterModule

if TYPE_CHECKING:
    import secrets
else:
    secrets = LaterModule("secrets")

_BYTES = 16


def random_password() -> str:
    """Return a password that nobody can guess, in letters and digits."""
    return secrets.token_hex(_BYTES)
