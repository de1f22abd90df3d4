"""A length of time on the command line."""

import re
from typing import TYPE_CHECKING

import click

_UNITS_S = {"s": 1, "m": 60, "h": 3600}

if TYPE_CHECKING:
    _ReadFloat = click.ParamType[float]
else:
    # Older versions of click have no generic type.
    _ReadFloat = click.ParamType


class Duration(_ReadFloat):
    """Reads `20m`, `90s` and `1h` as seconds."""

    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the seconds; ends the command if it is not such a duration."""
        if isinstance(value, float):
            return value
        match = re.fullmatch(r"([1-9]\d{0,5})([smh])", str(value))
        if not match:
            self.fail(f"'{str(value)[:40]}' is not a duration; give 90s, 20m or 2h", param, ctx)
        return float(int(match[1]) * _UNITS_S[match[2]])


DURATION = Duration()
