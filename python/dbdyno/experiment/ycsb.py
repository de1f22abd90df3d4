"""YCSB's property files, read as experiments: what `dbdyno run workloada --system mariadb` runs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dbdyno.errors import did_you_mean
from dbdyno.experiment.toml import Table

TABLE = "usertable"
_EXPONENT = 0.99
"""Exponent of YCSB's zipfian and latest."""
_WEIGHTS = 1_000_000
"""Shares are whole weights, which so have six digits."""
_MOST_FIELDS = 100
_MOST_LENGTH = 16_000

_OPERATIONS = {
    "readproportion": ("read", "get"),
    "updateproportion": ("update", "update"),
    "insertproportion": ("insert", "insert"),
    "scanproportion": ("scan", "scan"),
    "readmodifywriteproportion": ("read_modify_write", "read-modify-write"),
}
"""The properties with the shares of operations, each with its name here and its operation."""
_USUAL = {
    **{"readproportion": "0.95", "updateproportion": "0.05", "requestdistribution": "uniform"},
    **{"fieldcount": "10", "fieldlength": "100", "fieldlengthdistribution": "constant", "minfieldlength": "1"},
    **{"hotspotdatafraction": "0.2", "hotspotopnfraction": "0.8"},
    **{"scanlengthdistribution": "uniform", "minscanlength": "1", "maxscanlength": "1000"},
    **{"readallfields": "true", "writeallfields": "false", "threadcount": "1", "maxexecutiontime": "10"},
}
"""YCSB's defaults; of `maxexecutiontime` it has none, and runs until `operationcount` is reached."""
_OTHERS = ("workload", "recordcount", "target", "insertproportion", "scanproportion", "readmodifywriteproportion")
_NO_MATTER = (
    *("operationcount", "insertorder", "table", "dataintegrity", "exporter", "exportfile", "filterproportion"),
    *("measurementtype", "histogram.buckets", "timeseries.granularity", "status.interval", "fieldnameprefix"),
)
"""Properties without effect here: YCSB's run time, its names, and its reports."""


@dataclass(frozen=True)
class _Properties:
    """The properties of a file, each with its line, and YCSB's defaults for the others."""

    given: Mapping[str, tuple[str, int]]

    def text(self, key: str, *known: str) -> str:
        """Return a property in small letters, one of those that are known; raises ValueError with its line."""
        value = self.given.get(key, (_USUAL.get(key, "0"), 0))[0].lower()
        if known and value not in known:
            raise self.wrong(key, f"give one of {', '.join(known)}")
        return value

    def number(self, key: str, least: float, most: float, make: Callable[[str], float] = float) -> float:
        """Return a property that is a number within bounds; raises ValueError with its line."""
        try:
            value = make(self.text(key))
        except ValueError:
            raise self.wrong(key, "is not a number") from None
        if not least <= value <= most:
            raise self.wrong(key, f"give {least:,} to {most:,}")
        return value

    def whole(self, key: str, least: int, most: int) -> int:
        """Return a property that is a whole number within bounds; raises ValueError with its line."""
        return int(self.number(key, least, most, int))

    def wrong(self, key: str, why: str) -> ValueError:
        """Return that a property cannot be used, with its line if the file has it."""
        value, line = self.given.get(key, (_USUAL.get(key, ""), 0))
        return ValueError(f"line {line}: {key} = {value}: {why}" if line else f"{key} is missing: {why}")


def is_ycsb(text: str) -> bool:
    """Return whether the text of a file is a property file of YCSB: it names the class of its workload."""
    lines = (line.partition("=") for line in text.splitlines())
    return any(key.strip() == "workload" and value.strip().endswith("Workload") for key, _, value in lines)


def read_ycsb(text: str) -> Table:
    """Return the experiment that a property file describes, without its systems.

    Raises ValueError, with the line, for a property that dbdyno does not know or cannot do.
    """
    properties = _Properties(_parse(text))
    if not properties.text("workload").endswith(".coreworkload"):
        raise properties.wrong("workload", "only YCSB's CoreWorkload is known")
    rate = {"rate": properties.whole("target", 1, 10_000_000)} if "target" in properties.given else {}
    return {
        "question": "How many operations does a store complete under the load of a property file of YCSB?",
        "workloads": {"ycsb": _workload(properties)},
        "workload": "ycsb",
        "rows": properties.whole("recordcount", 1, (1 << 31) - 1),
        "clients": properties.whole("threadcount", 1, 100_000),
        "seconds": properties.whole("maxexecutiontime", 1, 1_000_000),
        **rate,
    }


def _parse(text: str) -> dict[str, tuple[str, int]]:
    given: dict[str, tuple[str, int]] = {}
    known = (*_OTHERS, *_USUAL, *_NO_MATTER)
    for number, line in enumerate(text.splitlines(), 1):
        key, equals, value = (part.strip() for part in line.partition("="))
        if not key or key.startswith(("#", "!")):
            continue
        if not equals or key not in known:
            raise ValueError(
                f"line {number}: '{key}' is not a property of YCSB that dbdyno knows{did_you_mean(key, known)}"
            )
        given[key] = value, number
    return given


def _workload(properties: _Properties) -> Table:
    properties.text("readallfields", "true")
    return {
        "what": "the operations of a property file of YCSB",
        "access": _access(properties),
        "tables": [{"name": TABLE, "columns": _columns(properties)}],
        "transactions": _transactions(properties),
    }


def _access(properties: _Properties) -> Table:
    known = ("uniform", "zipfian", "latest", "sequential", "hotspot")
    kind = properties.text("requestdistribution", *known)
    if kind == "hotspot":
        rows = properties.number("hotspotdatafraction", 1e-9, 1)
        return {"kind": "hot-set", "rows": rows, "choices": properties.number("hotspotopnfraction", 0, 1)}
    more = {"zipfian": {"exponent": _EXPONENT, "scrambled": True}, "latest": {"exponent": _EXPONENT}}
    return {"kind": kind, **more.get(kind, {})}


def _columns(properties: _Properties) -> list[Table]:
    """Return the columns of YCSB's table: an update changes one field of them, or all."""
    length = properties.whole("fieldlength", 1, _MOST_LENGTH)
    changes_all = properties.text("writeallfields", "true", "false") == "true"
    column: dict[str, object] = {"kind": f"varchar({length})"}
    if properties.text("fieldlengthdistribution", "constant", "uniform") == "uniform":
        least = properties.whole("minfieldlength", 0, length)
        column["size"] = {"kind": "uniform", "from": least, "to": length}
    fields = range(properties.whole("fieldcount", 1, _MOST_FIELDS))
    return [
        {"name": "id", "kind": "int", "generator": "key"},
        {"name": "version", "kind": "int", "generator": "version"},
        *(
            {"name": f"field{i}", "generator": "versioned-letters" if changes_all or i == 0 else "letters", **column}
            for i in fields
        ),
    ]


def _transactions(properties: _Properties) -> list[Table]:
    transactions: list[Table] = []
    for key, (name, operation_name) in _OPERATIONS.items():
        weight = round(properties.number(key, 0, 1) * _WEIGHTS)
        operation: dict[str, object] = {"operation": operation_name, "table": TABLE}
        if operation_name == "scan" and weight:
            properties.text("scanlengthdistribution", "uniform")
            most = properties.whole("maxscanlength", 1, 1000)
            operation["length"] = {"kind": "uniform", "from": properties.whole("minscanlength", 1, most), "to": most}
        if weight:
            transactions.append({"name": name, "weight": weight, "operations": [operation]})
    if not transactions:
        raise properties.wrong("readproportion", "the shares of all operations are 0")
    return transactions
