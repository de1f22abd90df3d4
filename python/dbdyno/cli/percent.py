"""A percentage on the command line."""

import click


class Percent(click.ParamType):
    """Reads `2%` as 0.02. The sign is asked for: of a bare 2 or 0.02 nobody could tell which is meant."""

    name = "percent"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the share; ends the command if it is none between 0 and 100 %."""
        if isinstance(value, float):
            return value
        text = str(value).strip()
        try:
            share = float(text.removesuffix("%")) / 100
        except ValueError:
            share = -1.0
        if not text.endswith("%") or not 0 <= share < 1:
            self.fail(f"'{value}' is no percentage: give one such as 2%", param, ctx)
        return share


PERCENT = Percent()
