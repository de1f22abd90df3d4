"""A variant: the keys of an experiment that one of its systems has for itself.

A list of values for such a key makes a variant of each system for each value (`dbdyno.experiment.factors`).
"""

from collections.abc import Mapping
from itertools import groupby
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from dbdyno.experiment.bounds import (
    MOST_LOAD_THREADS,
    MOST_PER_CONNECTION,
    MOST_SECONDS,
    MOST_TEXT,
    MOST_TIMEOUT_SECONDS,
    brief,
    cut,
)
from dbdyno.experiment.size import check_size
from dbdyno.experiment.toml import Table

NO_RESTART = "none"
"""Stands for no restart in a list of restarts: TOML has no null."""
_UNITS = {1_000_000_000: "G", 1_000_000: "M", 1_000: "k"}
_WORDS = {"cpus.client": "client CPUs", "cpus.server": "server CPUs"}


STRICT = ConfigDict(extra="forbid", strict=True, frozen=True, arbitrary_types_allowed=True)
"""A table of the experiment file: no unknown keys, no value of another type."""


def _check_directory(value: str) -> str:
    if not value.startswith("/") or not value.isprintable() or len(value) > MOST_TEXT:
        raise ValueError(f'{cut(repr(value))}: give the path of a directory from /, e.g. data_dir = "/mnt/ssd"')
    return value


def read_options(value: Any) -> Any:
    """Read options of a workload: whole numbers are the text of theirs."""
    return {key: read_option(given) for key, given in value.items()} if isinstance(value, Mapping) else value


def read_option(value: Any) -> Any:
    """Read the value of an option of a workload."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Rows = Annotated[int, Field(ge=1, le=(1 << 31) - 1)]
Seconds = Annotated[int, Field(ge=1, le=MOST_SECONDS)]
WarmupSeconds = Annotated[int, Field(ge=0, le=MOST_SECONDS)]
TimeoutSeconds = Annotated[int, Field(ge=1, le=MOST_TIMEOUT_SECONDS)]
Arrivals = Literal["constant", "poisson"]
MemoryLimit = Annotated[str, AfterValidator(check_size)]
Directory = Annotated[str, AfterValidator(_check_directory)]
LoadThreads = Annotated[int, Field(ge=1, le=MOST_LOAD_THREADS)]
PerConnection = Annotated[int, Field(ge=0, le=MOST_PER_CONNECTION)]
_Cpu = Annotated[int, Field(ge=0)]


class Cpus(BaseModel):
    """Processors, by number, that the load client and the servers are pinned to; null is any."""

    model_config = STRICT

    client: list[_Cpu] | None = None
    server: list[_Cpu] | None = None


class Variant(BaseModel):
    """The keys that one system has for itself; None: as the experiment has it.

    options: of all workloads, beside those that the experiment gives.
    """

    model_config = STRICT

    rows: Rows | None = None
    seconds: Seconds | None = None
    warmup_seconds: WarmupSeconds | None = None
    operation_timeout_seconds: TimeoutSeconds | None = None
    arrivals: Arrivals | None = None
    restart: Literal["none", "lukewarm", "cold"] | None = None
    observe: bool | None = None
    memory_limit: MemoryLimit | None = None
    data_dir: Directory | None = None
    load_threads: LoadThreads | None = None
    transactions_per_connection: PerConnection | None = None
    cpus: Cpus = Cpus()
    options: Annotated[Mapping[str, str], BeforeValidator(read_options)] = {}

    @property
    def given(self) -> Table:
        """The values it has, by key; those of tables as `cpus.server` and `options.access`."""
        tables = {"cpus": self.cpus.model_dump(), "options": self.options}
        inner = {f"{table}.{key}": value for table, values in tables.items() for key, value in values.items()}
        own = {key: getattr(self, key) for key in SCALARS} | inner
        return {key: value for key, value in own.items() if value is not None}

    @property
    def words(self) -> dict[str, str]:
        """The values in short, by name, as labels have them: `rows` `1M`, `server CPUs` `0-3`."""
        return {_name(key): _short(key, value) for key, value in self.given.items()}


SCALARS = tuple(key for key in Variant.model_fields if key not in ("cpus", "options"))
"""The keys that are no tables."""


def _name(key: str) -> str:
    return _WORDS.get(key) or key.removeprefix("options.").replace("_", " ")


def _short(key: str, value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list):
        return _ranges(value)
    if key == "transactions_per_connection" and not value:
        return "all"
    if key != "rows":
        return str(value)
    units = (unit for unit in _UNITS if value >= unit and value % (unit // 100) == 0)
    unit = next(units, None)
    return f"{value / unit:.10g}{_UNITS[unit]}" if unit else str(value)


def _ranges(numbers: list[int]) -> str:
    """Return numbers as `0-3,6`."""
    runs = groupby(enumerate(sorted(numbers)), lambda pair: pair[1] - pair[0])
    ends = [[number for _, number in run] for _, run in runs]
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in ends)


def read_variant(table: Any) -> Variant:
    """Return the keys that a system has for itself; raises ValueError, saying which is wrong."""
    try:
        return Variant.model_validate(table)
    except ValidationError as error:
        detail = error.errors(include_url=False)[0]
        key = ".".join(map(str, detail["loc"])) or "with"
        said = detail["msg"].removeprefix("Value error, ")
        raise ValueError(f"{key} = {brief(detail['input'])}: {said}") from None
