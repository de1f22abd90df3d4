"""Values of the experiment file that options of `dbdyno run` override."""

import tomllib

from dbdyno.cli.options import Options
from dbdyno.cli.profile import parse_profile
from dbdyno.errors import UserError
from dbdyno.experiment.bounds import cut
from dbdyno.experiment.read import read_toml
from dbdyno.experiment.toml import Table, parse_toml

_MOST_DIGITS = 20


def parse_counts(option: str, text: str) -> list[int]:
    """Read `1,8,64` as given for `--clients` or `--pipeline`; raises UserError if it is not such a list."""
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise UserError(f"--{option} {cut(text)}: give whole numbers, e.g. --{option} 1,8,64") from None


def parse_clients(text: str) -> list[int] | str:
    """Read `1,8,64`, or leave a sweep, `1..64`, to the experiment; raises UserError if it is neither."""
    return text if ".." in text else parse_counts("clients", text)


def parse_rates(text: str) -> list[float | str]:
    """Read `1000,5000`, transactions per second, or `50%,90%`, of capacity; raises UserError if it is no such list."""
    try:
        return [_parse_rate(rate.strip()) for rate in text.split(",")]
    except ValueError:
        raise UserError(
            f"--rate {cut(text)}: give transactions per second, e.g. --rate 1000,5000, or shares of the closed loops' "
            "throughput, e.g. --rate 50%,90%. For a ramp or steps: --set 'rate={ramp=[1000, 20000], seconds=10}'"
        ) from None


def _parse_rate(text: str) -> float | str:
    """Read one rate; what a share may be the experiment knows."""
    if text.endswith("%"):
        return text
    return int(text) if text.isdigit() else float(text)


def parse_warmup(text: str) -> dict[str, str | int]:
    """Read `--warmup`, seconds or `auto`, as overrides; raises UserError if it is neither."""
    if text == "auto":
        return {"warmup": "auto"}
    if not text.isdecimal() or len(text) > _MOST_DIGITS:
        raise UserError(f"--warmup {cut(text)}: give whole seconds, or auto")
    return {"warmup_seconds": int(text)}


def parse_set(text: str) -> tuple[str, object]:
    """Read `KEY=VALUE`: a value of TOML, or, if it is none, the text itself; raises UserError if there is no `=`."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise UserError(f"--set {cut(text)}: give KEY=VALUE, e.g. --set operation_timeout_seconds=5")
    try:
        return key.strip(), parse_toml(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return key.strip(), value
    except ValueError as error:
        raise UserError(f"--set {cut(key)}: {error}") from None


def overrides_of(options: Options) -> Table:
    """Return key to value for the options that were given; raises UserError if two contradict each other.

    options: those of `dbdyno run`, by the names of its parameters; None, False and () are not given.
    """
    if options["rate"] is not None and options["find_rate"] is not None:
        raise UserError("--rate gives the rate, --find-rate searches for it; give one of them")
    overrides = dict(map(parse_set, options["set"]))
    named = {
        "system": list(options["system"]) or None,
        "clients": parse_clients(options["clients"]) if options["clients"] is not None else None,
        "rate": parse_rates(options["rate"]) if options["rate"] is not None else None,
        "find_rate": options["find_rate"],
        "pipeline": parse_counts("pipeline", options["pipeline"]) if options["pipeline"] is not None else None,
        "seconds": options["seconds"],
        **(parse_warmup(options["warmup"]) if options["warmup"] is not None else {}),
        "repeat": options["repeat"],
        "precise": options["precise"],
        "until_flat": options["until_flat"],
        "scale": options["scale"],
        "rows": options["rows"],
        "seed": options["seed"],
        "confirm_limit": options["confirm_limit"] or None,
        "hosts": read_toml(options["hosts"]) if options.get("hosts") is not None else None,
        "options.csv": options.get("csv"),
        "keep": options["keep"] or None,
        "observe": False if options["no_observe"] else None,
        "profile": parse_profile(options["profile"]) if options["profile"] is not None else None,
    }
    return overrides | {key: value for key, value in named.items() if value is not None}
