"""Refuses a server of the MySQL protocol that asks PyMySQL for the password in clear text.

PyMySQL sends it to whoever asks, without TLS too, so anybody who answers at the address would learn it. The native load
client knows none of these logins.
"""

from typing import Any, Never


class _Refused:
    """A login that sends the password in clear text; PyMySQL constructs it with the connection."""

    def __init__(self, connection: object) -> None:
        pass

    def authenticate(self, packet: object) -> Never:
        """Raise pymysql.OperationalError: nothing is sent."""
        from pymysql import OperationalError  # noqa: PLC0415
        from pymysql.constants import CR  # noqa: PLC0415

        raise OperationalError(
            CR.CR_AUTH_PLUGIN_CANNOT_LOAD,
            "the server asks for the password in clear text, and dbdyno does not send it; "
            "use an account that logs in by mysql_native_password or caching_sha2_password",
        )


CLEAR_PASSWORDS_REFUSED: dict[str, Any] = {"auth_plugin_map": {"mysql_clear_password": _Refused, "dialog": _Refused}}
"""Arguments of `pymysql.connect` with which it refuses these logins; `dialog` is PAM's."""
