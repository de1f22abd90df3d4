"""The page of the experiment file: every key, its type, its default and what it does."""

import json
from collections.abc import Iterator
from math import isinf
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel, BeforeValidator
from pydantic.fields import FieldInfo
from scripts.reference.attributes import documented_attributes
from scripts.reference.markdown import code, codes, page, prose, table

from dbdyno.experiment.access import Access
from dbdyno.experiment.events import Event
from dbdyno.experiment.factors import FACTORS
from dbdyno.experiment.groups import Group
from dbdyno.experiment.limit import Limit
from dbdyno.experiment.limits import Bound
from dbdyno.experiment.model import Experiment
from dbdyno.experiment.own_workload import KEYS, OwnWorkload
from dbdyno.experiment.rate import Rate
from dbdyno.experiment.scale import SCALES, SIZED
from dbdyno.experiment.sizes import Size
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.experiment.think_time import ThinkTime
from dbdyno.experiment.variant import Cpus
from dbdyno.experiment.workload_spec import WorkloadSpec

HEAD = ("Key", "Value", "Default")
INTRODUCTION = """
An experiment is one TOML file. `dbdyno run FILE` runs it; `--set KEY=VALUE` overrides any key.
[Your first experiment](../first-experiment.md) shows how to write one. Unknown keys are refused.
"""
OF_TYPES = {
    bool: "`true` or `false`",
    int: "whole number",
    float: "number",
    str: "text",
    Rate: "rate",
    Limit: "limit",
    SystemSpec: "system",
    WorkloadSpec: "workload",
    tuple[Bound, ...]: "table of limits",
}
BRIEF = {Access: "text", Size: "number"}
"""The short form of a table: a value alone."""
SHAPES = """
```toml
rate = 20000                                         # transactions per second
rate = [1000, 5000, 20000]                           # a trial for each
rate = { ramp = [1000, 20000], seconds = 10 }        # rises evenly
rate = { steps = [1000, 2000, 4000], seconds = 5 }   # each for so long
rate = ["50%", "70%", "90%"]                         # shares of what the closed loops measured
find_rate = "p99 < 10ms"                             # also p99.9, mean and max; us, ms and s

[limits]                                             # a broken one ends the run with status 1
p99 = "< 10ms"                                       # also p50, "p99.9", mean and max
throughput = "> 1000/s"
errors = 0                                           # failed operations; also "< 10" or "< 1%"
```
"""
SYSTEMS = """
```toml
system = ["mariadb", "redis?appendonly=yes", "mysql://me@db.example/test"]

[[system]]
system = "mariadb"
settings = { innodb_buffer_pool_size = ["32M", "512M"] }   # a list: one system for each value
label = "MariaDB"                                          # its name in tables and plots
scale = ["medium", "full"]                                 # it is left out at the other sizes
with = { rows = 1_000 }                                    # keys that it has for itself
```
"""


EVENTS = """
```toml
[[events]]
at = { small = 8, full = 300 }                       # second of the trial, warm-up included
action = "backup"

[[events]]
at = 15
sql = "CREATE INDEX by_name ON dbdyno_player (name)" # or command = "…", a line for the shell
if_fails = "warn"                                    # the trial counts even if this fails
```
"""


def experiment_file_page() -> str:
    """Return the page of the experiment file."""
    sized = prose(
        f"{codes(SIZED)}, options, settings and each side of `cpus` can be a table of sizes: "
        f"{code('{ small = 1, full = 60 }')}. "
        f"The sizes are {codes(SCALES)}; [Sizes](../sizes.md) has more."
    )
    factors = prose(
        f"A list of values makes variants of each system for {codes(FACTORS)}. "
        "[Factors](../first-experiment.md#factors) has examples."
    )
    own = prose(
        "`[workloads.NAME]` declares a workload. [A workload of your own](../own-workload.md) explains these keys."
    )
    events = prose("[Events during a trial](../events.md) explains what an event can do, and what is reported.")
    groups = prose(
        "`[[clients]]` instead of `clients` gives each group of clients its own load. "
        "[Groups of clients](../client-groups.md) explains these keys."
    )
    return page(
        "Experiment file",
        prose(INTRODUCTION),
        "## Keys",
        table(("Key", "Value", "Default", "Meaning"), _rows(Experiment, documented_attributes(Experiment))),
        sized,
        factors,
        "### cpus",
        table(HEAD, _rows(Cpus)),
        "## Systems",
        SYSTEMS,
        "## Rates and limits",
        SHAPES,
        "## Events",
        events,
        EVENTS,
        table(("Key", "Value", "Default", "Meaning"), _rows(Event, documented_attributes(Event))),
        "## Groups of clients",
        groups,
        table(("Key", "Value", "Default", "Meaning"), _rows(Group, documented_attributes(Group))),
        "### think_time",
        table(HEAD, _rows(ThinkTime)),
        prose('`mean` counts microseconds, or is a text such as `"2ms"`.'),
        "## Own workloads",
        own,
        table(HEAD, _rows(OwnWorkload)),
        *(part for name, model in KEYS.items() for part in (f"### {name}", table(HEAD, _rows(model)))),
    )


def _rows(model: type[BaseModel], meanings: dict[str, str] | None = None) -> Iterator[tuple[str, ...]]:
    """Yield a row for each key; with `meanings` every key must have one."""
    for name, info in model.model_fields.items():
        if model is Experiment and name == "groups":
            # It is what `[[clients]]` of a file becomes.
            continue
        row = code(info.alias or name), _value(info.annotation, info.metadata), _default(info)
        yield (*row, meanings[name]) if meanings is not None else row


def _value(annotation: Any, metadata: list[Any]) -> str:
    """Return in words what can stand for a type."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _value(arguments[0], list(arguments[1:]))
    if origin in (Union, UnionType):
        return " or ".join(_value(argument, metadata) for argument in arguments if argument is not NoneType)
    if origin in (list, dict, Literal):
        return _collection(origin, arguments, metadata)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return f"{BRIEF[annotation]} or table" if _is_converted(metadata) else "table"
    if annotation is float and _is_converted(metadata):
        return "percentage, as text"
    return f"{OF_TYPES[annotation]}{_bounds(metadata)}"


def _is_converted(metadata: list[Any]) -> bool:
    """Return whether a value may be written in another form than the one it is kept in."""
    return any(isinstance(step, BeforeValidator) for step in metadata)


def _collection(origin: Any, arguments: tuple[Any, ...], metadata: list[Any]) -> str:
    """Return in words a list, a table of values, or a choice of some values."""
    if origin is Literal:
        return codes(json.dumps(value) for value in arguments)
    if origin is dict:
        return f"table of {_value(arguments[1], [])}"
    item = _value(arguments[0], [])
    return f"{item}, one or a list" if _is_converted(metadata) else f"list of {item}"


def _bounds(metadata: list[Any]) -> str:
    """Return the least and the greatest value of a number."""
    said = []
    for bound in _constraints(metadata):
        match bound:
            case Ge(ge=value):
                said.append(f"≥ {value:,}")
            case Gt(gt=value) if not isinf(value):
                said.append(f"> {value:,}")
            case Le(le=value):
                said.append(f"≤ {value:,}")
            case Lt(lt=value) if not isinf(value):
                said.append(f"< {_power(value)}")
    return "".join(f", {words}" for words in said)


def _constraints(metadata: list[Any]) -> Iterator[Any]:
    """Yield the constraints of a type; inside a union pydantic leaves them in their own field."""
    for step in metadata:
        yield from step.metadata if isinstance(step, FieldInfo) else [step]


def _power(number: int) -> str:
    """Return a number that may be a large power of two."""
    return f"2^{number.bit_length() - 1}" if number.bit_count() == 1 and number > 1 << 20 else f"{number:,}"


def _default(info: FieldInfo) -> str:
    if info.is_required():
        return "required"
    if info.default in (None, "", [], {}) or isinstance(info.default, BaseModel):
        return ""
    return code(json.dumps(info.default))
