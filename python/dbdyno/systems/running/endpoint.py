"""The address and login of a server, whether dbdyno started it or not."""

from dataclasses import dataclass, field

from dbdyno.errors import UserError
from dbdyno.experiment.password import FILE_VARIABLE, VARIABLE, given_password
from dbdyno.experiment.redact import REDACTED
from dbdyno.experiment.system_spec import SystemSpec, Url
from dbdyno.systems.running.process import is_too_long_for_a_socket
from dbdyno.systems.running.tls import Tls

CONNECT_TIMEOUT_S = 5


class Unreached(UserError):
    """Nothing at the address of an attached server answered in its protocol."""

    def __init__(self, error: Exception | str) -> None:
        """Take what the client library raised: its words, or its kind if it has none."""
        super().__init__(" ".join(str(error).split()) or type(error).__name__)


@dataclass(frozen=True)
class Endpoint:
    """An address and a login.

    socket: the path of a Unix socket, which goes before host and port if given. tls: None: nothing is encrypted.
    """

    host: str = "127.0.0.1"
    port: int = 0
    socket: str | None = None
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    database: str = ""
    tls: Tls | None = None

    def effective_settings(self) -> dict[str, str]:
        """Return the settings of the connection that differ from the default."""
        return {"connect": "socket"} if self.socket else {}

    def address(self) -> dict[str, str | int]:
        """Return the plan's `address`."""
        return {"unix": self.socket} if self.socket else {"host": self.host, "port": self.port}

    def encryption(self) -> dict[str, str | None] | None:
        """Return the plan's `tls`."""
        return self.tls.plan() if self.tls else None

    def secret(self, secrets: list[str]) -> dict[str, int] | None:
        """Append the password to `secrets` and return the plan's reference to it; None if there is none."""
        if self.password is None:
            return None
        secrets.append(self.password)
        return {"secret": len(secrets) - 1}

    def __str__(self) -> str:
        """Return the address without login, for messages."""
        return self.socket or f"{self.host}:{self.port}"


def endpoint_of(url: Url | None, default_port: int) -> Endpoint:
    """Return where a URL points; a password left out, or written as `***`, comes from outside (`password`).

    Raises UserError if the password was taken out and nothing else gives it, or no socket can be there.
    """
    assert url is not None, "only a system with a URL is attached to"
    if url.socket is not None and (not url.socket.startswith("/") or is_too_long_for_a_socket(url.socket)):
        raise UserError(
            f"socket = '{url.socket}': give the whole path of the server's Unix socket, which has at most 107 bytes; "
            "a symbolic link can make it shorter"
        )
    password = url.password
    if password == REDACTED or (password is None and url.user):
        password = given_password()
        if password is None and url.password == REDACTED:
            raise UserError(
                f"the password of {url.scheme}://{url.user or ''}@{url.host} was taken out of this experiment: "
                f"set {VARIABLE} to it, or {FILE_VARIABLE} to a file that has it"
            )
    return Endpoint(url.host, url.port or default_port, url.socket, url.user, password, url.database)


def refuse_server_settings(spec: SystemSpec, own: tuple[str, ...]) -> None:
    """Raise UserError if an attached system is given a setting that is the server's, so not dbdyno's to change."""
    for key in spec.settings:
        if key not in own:
            raise UserError(
                f"{spec.label}: dbdyno did not start this server, so it does not change '{key}'; "
                f"the URL takes {', '.join(own)}"
            )
