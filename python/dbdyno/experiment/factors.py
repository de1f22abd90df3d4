"""Lists of values for keys of an experiment: each value makes a variant of each system.

rows = [10_000, 1_000_000]
cpus = { server = [[0], [0, 1]] }
combine = "zip"                      # the first of each list, the second of each …; "matrix": every combination
"""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from dbdyno.experiment.bounds import check_variants
from dbdyno.experiment.toml import Table, as_list
from dbdyno.experiment.variant import SCALARS

_CPUS = ("cpus.client", "cpus.server")
FACTORS = (*SCALARS, *_CPUS)
"""The keys that a list of values may be given for; of processors it is a list of lists."""


def expand_factors(document: Table) -> Table:
    """Return an experiment's file with each list of values put into its systems, as their table `with`.

    The keys themselves keep the first value. In a zip the lists of options and of settings take part, too.
    Raises ValueError for an empty list, a value given twice, too many variants, and a zip of unequal lists.
    """
    zipped = document.get("combine") == "zip"
    lists = _lists(document, zipped)
    entries = as_list(document.get("system", []))
    if not lists and not any(isinstance(entry, dict) and (zipped or "with" in entry) for entry in entries):
        return dict(document)
    firsts = {key: values[0] for key, values in lists.items()}
    systems = [variant for entry in entries for variant in _variants(entry, lists, zipped)]
    return _with(document, firsts) | ({"system": systems} if systems else {})


def _lists(table: Table, zipped: bool) -> dict[str, list[Any]]:
    """Return the lists of a table's factors, by key; raises ValueError for one that says nothing or the same twice."""
    lists = {key: values for key, values in _flat(table).items() if _is_list(key, values, zipped)}
    for key, values in lists.items():
        if not values or len({repr(value) for value in values}) < len(values):
            raise ValueError(f"{key}: give at least one value, and each once")
    return lists


def _is_list(key: str, values: Any, zipped: bool) -> bool:
    if not isinstance(values, list):
        return False
    if key in _CPUS:
        # A list of numbers is one choice of processors.
        return any(isinstance(value, list) for value in values)
    return key in FACTORS or (zipped and key.startswith("options."))


def _variants(entry: Any, lists: Mapping[str, list[Any]], zipped: bool) -> Iterator[Any]:
    """Yield a system once for each choice of the lists; its own table `with` goes before them."""
    table = {"system": entry} if isinstance(entry, str) else entry
    if not isinstance(table, dict) or not isinstance(table.get("with", {}), dict):
        yield entry  # It is wrong, and refused where systems are read.
        return
    own = _flat(table.get("with", {}))
    own_lists = _lists(table.get("with", {}), True)
    factors = {key: values for key, values in lists.items() if key not in own} | own_lists
    settings = table.get("settings")
    if zipped and isinstance(settings, dict):
        factors |= {f"settings.{key}": values for key, values in settings.items() if isinstance(values, list)}
    check_variants("the keys", list(factors.values()))
    if zipped:
        _check_lengths(factors)
    for values in zip(*factors.values(), strict=True) if zipped and factors else product(*factors.values()):
        chosen = dict(zip(factors, values, strict=True))
        within = {key: value for key, value in chosen.items() if key.startswith("settings.")}
        given = _with({}, {key: value for key, value in (own | chosen).items() if key not in within})
        yield _with(table, within) | ({"with": given} if given else {})


def _check_lengths(lists: Mapping[str, list[Any]]) -> None:
    lengths = {key: len(values) for key, values in lists.items()}
    first = next(iter(lengths), None)
    for key, length in lengths.items():
        if first and length != lengths[first]:
            raise ValueError(
                f'combine = "zip": {first} has {lengths[first]} values and {key} has {length}; '
                'give lists of one length, or combine = "matrix"'
            )


def _flat(table: Table) -> dict[str, Any]:
    """Return the values of a table by key; those of tables in it as `cpus.server`."""
    flat: dict[str, Any] = {}
    for key, value in table.items():
        inner = value if isinstance(value, Mapping) else {}
        flat |= {f"{key}.{name}": held for name, held in inner.items()} if inner else {key: value}
    return flat


def _with(table: Table, values: Table) -> dict[str, object]:
    """Return a table with values put in; a key such as `cpus.server` reaches into a table of it."""
    result = dict(table)
    for key, value in values.items():
        head, _, rest = key.partition(".")
        result[head] = {**result.get(head, {}), rest: value} if rest else value
    return result
