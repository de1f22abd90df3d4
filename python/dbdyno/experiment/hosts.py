"""The table `[hosts]` of an experiment, or its own file: which hosts carry a run, and how they are reached."""

import re
from ipaddress import ip_address
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

MOST_HOSTS = 1000
MOST_WAIT_S = 86_400
MOST_LINK_S = 5
"""A channel between hosts that is silent for 10 s is lost."""
_ADDRESS = re.compile(r"tls://(?P<host>\[[0-9A-Fa-f:.]+\]|[\w.-]+):(?P<port>\d{1,5})")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")
CONDUCTOR = "conductor"
"""The host that runs `dbdyno run`; its certificate has this name."""


def check_address(value: str) -> str:
    """Return an address such as `tls://10.0.0.1:8786`; raises ValueError if it is none."""
    match = _ADDRESS.fullmatch(value)
    if not match or not 0 < int(match["port"]) < 1 << 16:
        raise ValueError("give this host's address and a port, e.g. tls://10.0.0.1:8786; hosts speak TLS only")
    return value


def host_and_port(address: str) -> tuple[str, int]:
    """Return both parts of a checked address."""
    host, _, port = address.removeprefix("tls://").rpartition(":")
    return host.strip("[]"), int(port)


def is_loopback(host: str) -> bool:
    """Return whether an address or a name is each host's own."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def check_name(value: str) -> str:
    """Return a host's name; raises ValueError if it cannot name a folder, or is the conductor's."""
    if not _NAME.fullmatch(value) or value == CONDUCTOR:
        raise ValueError(f"'{value[:80]}' is not a host name: letters, digits, '.', '_' and '-', and not '{CONDUCTOR}'")
    return value


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _check_names(value: list[str]) -> list[str]:
    if len(set(value)) < len(value):
        raise ValueError("a host is named twice")
    return [check_name(name) for name in value]


class Hosts(BaseModel):
    """The hosts of a run. The conductor listens at `address`; each other host runs `dbdyno worker`."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    address: Annotated[str, AfterValidator(check_address)]
    """The address at which the conductor listens, such as `"tls://10.0.0.1:8786"`."""
    client: Annotated[
        list[str],
        BeforeValidator(_as_list),
        Field(min_length=1, max_length=MOST_HOSTS),
        AfterValidator(_check_names),
    ]
    """Names of the hosts that issue the load; each trial's clients are divided among them."""
    server: Annotated[
        list[str], BeforeValidator(_as_list), Field(max_length=MOST_HOSTS), AfterValidator(_check_names)
    ] = []
    """Names of the hosts on which servers are started, each server of a cluster on the next (default: this host)."""
    certificates: str | None = None
    """Folder that `dbdyno hosts init` wrote (default: where it writes)."""
    if_lost: Literal["wait", "go on"] = "wait"
    """After a trial that lost a host, the next one waits for it, or goes on with the others."""
    wait_seconds: Annotated[int, Field(ge=1, le=MOST_WAIT_S)] = 60
    """How long the run waits for a host before its first trial, and before each later one."""

    link_seconds: Annotated[float, Field(ge=0, le=MOST_LINK_S)] = 0.3
    """Before the first trial, each link to a server host is filled so long in each direction; 0: not at all."""

    @model_validator(mode="after")
    def _check_roles(self) -> "Hosts":
        if both := [name for name in self.server if name in self.client]:
            raise ValueError(
                f"'{both[0]}' is a client host and a server host: start two workers there, each with its name"
            )
        return self
