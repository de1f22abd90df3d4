"""Settings of PostgreSQL, whose values a person and the server write in different units and words."""

import re
from dataclasses import dataclass

_UNITS: dict[str, dict[str, float]] = {
    "memory": {"B": 1, "kB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40},
    "time": {"us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600, "d": 86400},
}
_BOOLEANS = {"on": "on", "true": "on", "yes": "on", "1": "on", "off": "off", "false": "off", "no": "off", "0": "off"}
_NUMBER = re.compile(r"\s*([-+]?[\d.]+)\s*([A-Za-z]*)\s*")
_AUTOMATIC = "-1"
"""With most settings that take it: the server is to choose."""
_OWN = ("default", "override", "client", "session")
"""Sources of values that nobody configured: the built-in one, the server's own, and this connection's."""
_SECRET = re.compile(r"_(command|conninfo)$")
_PLACES = re.compile(r"_(file|directory|directories)$")


@dataclass(frozen=True)
class Setting:
    """A row of the view pg_settings.

    value: in `unit`, if there is one. kind: `bool`, `enum`, `string`, `integer` or `real`.
    source: where it comes from. text: the value in the words and units of the server.
    """

    name: str
    value: str
    unit: str | None
    kind: str
    source: str
    text: str

    @property
    def is_changed(self) -> bool:
        """Return whether somebody configured it, and it is neither a place nor what may hold a password."""
        return self.source not in _OWN and not _SECRET.search(self.name) and not _PLACES.search(self.name)


def is_accepted(setting: Setting, given: str) -> bool:
    """Return whether the server has what was given, in whatever unit or word it was written."""
    if setting.kind == "bool":
        return _BOOLEANS.get(given.lower(), given.lower()) == setting.value
    if setting.kind in ("integer", "real"):
        return given.strip() == _AUTOMATIC or _same_number(setting, given)
    if setting.kind == "enum":
        return _BOOLEANS.get(given.lower(), given.lower()) == _BOOLEANS.get(setting.value, setting.value)
    return given == setting.value


def _same_number(setting: Setting, given: str) -> bool:
    """Compare in the setting's own unit; the server rounds to whole ones."""
    if not (match := _NUMBER.fullmatch(given)):
        return False
    number, unit = float(match[1]), match[2]
    if unit and setting.unit:
        scale = next((scale for scale in _UNITS.values() if unit in scale), None)
        if scale is None or (in_unit := re.fullmatch(r"(\d*)(\w+)", setting.unit)) is None:
            return False
        count, base = in_unit.groups()
        number = number * scale[unit] / (int(count or 1) * scale[base])
    allowed = 0.5 if setting.kind == "integer" else abs(number) * 1e-6
    return abs(number - float(setting.value)) <= allowed
