"""Options of MySQL and MariaDB, and the variables by which one sees what became of them."""

from collections.abc import Collection, Iterable, Mapping

from dbdyno.errors import UserError
from dbdyno.systems.settings import plain

_NEGATIONS = ("skip_", "disable_")
_MODIFIERS = (*_NEGATIONS, "loose_", "enable_", "maximum_")
"""Before the name of an option: what it is taken for then, any number of them."""
RESERVED = frozenset(
    (
        *("basedir", "chroot", "defaults_file", "defaults_extra_file", "defaults_group_suffix", "no_defaults"),
        *("networking", "grant_tables", "bootstrap", "initialize", "initialize_insecure", "daemonize"),
        *("admin_address", "admin_port", "extra_port", "mysqlx_bind_address", "mysqlx_port", "mysqlx_socket"),
        *("ssl", "ssl_ca", "ssl_capath", "ssl_cert", "ssl_key", "handlersocket_address", "handlersocket_port"),
        *("handlersocket_port_wr", "handlersocket_plain_secret", "handlersocket_plain_secret_wr"),
    )
)
"""Options that say where the server is and who gets in, without what may be before them."""
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


def refuse_reserved(label: str, given: Iterable[str], own: Collection[str]) -> None:
    """Raise UserError for an option that the server would take for one of dbdyno's own.

    It takes the beginning of a name for the name, `datad` for `datadir`, whatever modifiers are before it.
    """
    for key in given:
        name = _without_modifiers(plain(key))
        if taken := sorted(option for option in own if option.startswith(name)):
            raise UserError(f"{label}: the server reads '{key}' as {taken[0]}, which dbdyno sets: leave it out")


def _without_modifiers(name: str) -> str:
    while modifier := next(filter(name.startswith, _MODIFIERS), None):
        name = name.removeprefix(modifier)
    return name


def wanted_variables(label: str, settings: Mapping[str, str], variables: Mapping[str, str]) -> dict[str, str]:
    """Return what each variable must be that these options stand for.

    Raises UserError for an option without a variable: servers take some that have no effect any more, with a warning,
    and the beginning of a name for the name.
    """
    wanted = {}
    for key, value in settings.items():
        name = plain(key).removeprefix("loose_")
        negated = [name.removeprefix(prefix) for prefix in _NEGATIONS if name.startswith(prefix)]
        longer = [variable for variable in variables if variable.startswith(name)]
        if name == "log_bin":
            # As an option it takes the name of the files.
            wanted[name] = "OFF" if value.lower() in ("off", "0") else "ON"
        elif name in variables:
            wanted[name] = value or "ON"
        elif negated and negated[0] in variables:
            wanted[negated[0]] = "OFF"
        elif name in _WITHOUT_VARIABLE:
            continue
        elif longer:
            raise UserError(f"{label}: '{key}' is the beginning of a name: write all of it, such as {longer[0]}")
        else:
            raise UserError(
                f"{label}: the server accepts '{key}' and shows no such variable: its effect is unknown, leave it out"
            )
    return wanted
