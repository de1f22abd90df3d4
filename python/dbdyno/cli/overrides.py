"""What the options of `dbdyno run` put in the place of what the experiment file says."""

import tomllib
from typing import Any

from dbdyno.errors import UserError


def parse_clients(text: str) -> list[int]:
    """Read `1,8,64`; raises UserError if it is not such a list."""
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise UserError(f"--clients {text}: give numbers of clients, e.g. --clients 1,8,64") from None


def parse_set(text: str) -> tuple[str, Any]:
    """Read `KEY=VALUE`: a value of TOML, or, where it is none, the text itself; raises UserError if there is no `=`."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise UserError(f"--set {text}: give KEY=VALUE, e.g. --set operation_timeout_seconds=5")
    try:
        return key.strip(), tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return key.strip(), value


def overrides_of(options: dict[str, Any]) -> dict[str, Any]:
    """Return key to value for the options that were given; raises UserError if two contradict each other.

    options: those of `dbdyno run`, by the names of its parameters; None, False and () are not given.
    """
    if options["rows"] is not None and options["scale"] is not None:
        raise UserError("--scale and --rows both say how many rows there are; give one of them")
    overrides = dict(map(parse_set, options["set"]))
    named = {
        "system": list(options["system"]) or None,
        "clients": parse_clients(options["clients"]) if options["clients"] else None,
        "seconds": options["seconds"],
        "warmup_seconds": options["warmup"],
        "repeat": options["repeat"],
        "scale": options["scale"],
        "rows": options["rows"],
        "seed": options["seed"],
        "keep": options["keep"] or None,
    }
    return overrides | {key: value for key, value in named.items() if value is not None}
