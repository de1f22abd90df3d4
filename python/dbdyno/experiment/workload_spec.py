"""A workload of an experiment: its definition and the options it is given."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import product

from dbdyno.errors import did_you_mean
from dbdyno.experiment.bounds import cut
from dbdyno.experiment.workloads import WORKLOADS, Kind, Workload

_MOST_DIGITS = 20


@dataclass(frozen=True)
class WorkloadSpec:
    """A workload with its options. As text it is `batch-get?batch=10`, its name and the options of this variant.

    definition: what is true of the workload with any options.
    variant: the options that tell this variant from others of the same workload. common: those of all workloads.
    """

    definition: Workload = field(hash=False)
    variant: Mapping[str, str] = field(hash=False)
    common: Mapping[str, str] = field(hash=False)
    text: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Render the text once; it is what a spec is hashed by."""
        query = "&".join(f"{key}={value}" for key, value in self.variant.items())
        object.__setattr__(self, "text", f"{self.name}?{query}" if query else self.name)

    def __str__(self) -> str:
        return self.text

    @property
    def name(self) -> str:
        """The workload's name, without options."""
        return self.definition.name

    @property
    def kind(self) -> Kind:
        """How it is conducted."""
        return self.definition.kind

    @property
    def program(self) -> str | None:
        """The program that drives it instead of the load client, or None."""
        return self.definition.program

    @property
    def options(self) -> dict[str, str]:
        """All options it is given; the variant's override the common ones."""
        return {**self.common, **self.variant}

    @property
    def operations(self) -> tuple[str, ...]:
        """All operations that it needs with these options."""
        options = self.options
        extras = self.definition.extras.items()
        more = [operation for key, (usual, operation) in extras if options.get(key, usual) != usual]
        of_values = self.definition.value_extras.items()
        more += [operation for (key, value), operation in of_values if options.get(key) == value]
        return (*self.definition.operations, *more)

    def option(self, key: str) -> str:
        """Return the value of an option: the one given, else the default, which is the first of its values."""
        accepted = self.definition.options[key]
        return self.options.get(key) or (str(accepted[0]) if accepted else "")

    def data_bytes(self, rows: int) -> int | None:
        """Return how many bytes the values of its rows have, if each table has so many; None if that is not known."""
        row_bytes = self.definition.row_bytes
        return row_bytes * rows * self._tables() if row_bytes else None

    def records(self, rows: int) -> int:
        """Return how many rows and entries of secondary indexes it has, if each table has so many rows."""
        indexes = int(self.options.get("indexes", "0"))
        return (self.definition.records + indexes) * rows * self._tables()

    def _tables(self) -> int:
        """Return how many times it has its tables, as `oltp` may; what is no number the load client refuses."""
        tables = self.options.get("tables", "1")
        return int(tables) if tables.isdecimal() and len(tables) <= _MOST_DIGITS else 1


def parse_workload(text: str, own: Mapping[str, Workload], common: Mapping[str, str]) -> WorkloadSpec:
    """Read `batch-get?batch=10&access=uniform`; raises ValueError if there is no such workload.

    own: the workloads that the experiment declares itself, by name. common: the options of all its workloads.
    """
    name, _, query = text.partition("?")
    pairs = [pair.partition("=") for pair in query.split("&")] if query else []
    if wrong := [key for key, equals, _ in pairs if not equals]:
        raise ValueError(
            f"workload {cut(repr(text))}: write options as in 'batch-get?batch=10', not {cut(repr(wrong[0]))}"
        )
    known = {**WORKLOADS, **own}
    if name not in known:
        names = ", ".join(known)
        raise ValueError(f"there is no workload {cut(repr(name))}{did_you_mean(name, known)} The workloads are {names}")
    return WorkloadSpec(known[name], {key: value for key, _, value in pairs}, dict(common))


def variants(names: Iterable[str], choices: Mapping[str, Iterable[str]]) -> list[str]:
    """Return every workload of `names` with every combination of the choices: `batch-get?batch=10`."""
    queries = [
        "&".join(f"{key}={value}" for key, value in zip(choices, values, strict=True))
        for values in product(*choices.values())
    ]
    return [name + ("&" if "?" in name else "?") + query for name in names for query in queries]


def own_options(spec: WorkloadSpec, options: Mapping[str, str]) -> WorkloadSpec:
    """Return a workload with the options that a system has for itself."""
    return replace(spec, common={**spec.common, **options}) if options else spec


def check_options(spec: WorkloadSpec) -> None:
    """Raise ValueError if the workload does not take one of its options, saying what it takes."""
    workload = spec.definition
    for key, value in spec.options.items():
        accepted = workload.options.get(key)
        if accepted is None:
            takes = f"it takes {', '.join(workload.options)}" if workload.options else "it takes none"
            raise ValueError(f"the workload '{workload.name}' has no option {cut(repr(key))}; {takes}")
        if not value.isprintable():
            raise ValueError(f"option {key} = {cut(repr(value))}: has no line breaks and no control characters")
        if isinstance(accepted, range):
            if not (value.isdecimal() and len(value) <= len(str(accepted[-1])) and int(value) in accepted):
                raise ValueError(f"option {key} = '{cut(value)}' of '{workload.name}': give {workload.values(key)}")
        elif accepted and value not in accepted:
            raise ValueError(f"option {key} = '{cut(value)}' of '{workload.name}': give one of {', '.join(accepted)}")


def missing_operations(spec: WorkloadSpec, operations: Iterable[str]) -> list[str]:
    """List what the workload needs and a store with `operations` cannot do."""
    return [operation for operation in spec.operations if operation not in operations]
