"""Options of MySQL and MariaDB, and the variables by which one sees what became of them."""

from collections.abc import Mapping

from dbdyno.errors import UserError

_NEGATIONS = ("skip_", "disable_")
_WITHOUT_VARIABLE = frozenset(
    (
        "plugin_load",
        "plugin_load_add",
        "plugin_maturity",
        "symbolic_links",
        "external_locking",
        "performance_schema_instrument",
    )
)
"""Options that only act at the start."""


def wanted_variables(label: str, settings: Mapping[str, str], variables: Mapping[str, str]) -> dict[str, str]:
    """Return what each variable must be that these options stand for.

    Raises UserError for an option without a variable: servers take some that have no effect any more, with a warning.
    """
    wanted = {}
    for key, value in settings.items():
        name = key.lower().replace("-", "_").removeprefix("loose_")
        negated = [name.removeprefix(prefix) for prefix in _NEGATIONS if name.startswith(prefix)]
        # A server takes the beginning of a name for the name.
        longer = [variable for variable in variables if variable.startswith(name)]
        if name == "log_bin":
            # As an option it takes the name of the files.
            wanted[name] = "OFF" if value.lower() in ("off", "0") else "ON"
        elif name in variables:
            wanted[name] = value or "ON"
        elif negated and negated[0] in variables:
            wanted[negated[0]] = "OFF"
        elif len(longer) == 1:
            wanted[longer[0]] = value or "ON"
        elif name not in _WITHOUT_VARIABLE:
            raise UserError(
                f"{label}: the server took '{key}' and has no such variable: nothing shows that it does anything"
            )
    return wanted
