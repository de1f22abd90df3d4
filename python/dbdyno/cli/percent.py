"""A percentage on the command line."""

from typing import TYPE_CHECKING

import click

from dbdyno.experiment.percent import parse_percent

if TYPE_CHECKING:
    _ReadFloat = click.ParamType[float]
else:
    # Older versions of click have no generic type.
    _ReadFloat = click.ParamType


class Percent(_ReadFloat):
    """Reads `2%` as 0.02."""

    name = "percent"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the share; ends the command if it is none between 0 and 100 %."""
        if isinstance(value, float):
            return value
        try:
            return parse_percent(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


PERCENT = Percent()
