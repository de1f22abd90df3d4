"""Groups of clients: `[[clients]]` gives each its number, its share of the workload, and when its transactions begin.

[[clients]]
name = "writer"
number = 1
transactions = ["append"]      # of a workload of the file's own
rate = 1000                    # an open loop; without it a closed one
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    model_validator,
)

from dbdyno.errors import did_you_mean
from dbdyno.experiment.access import NamedAccess
from dbdyno.experiment.bounds import (
    MOST_CLIENTS_OF_A_TRIAL,
    MOST_PER_CONNECTION,
    MOST_SECONDS,
    check_variants,
    check_whole,
    cut,
)
from dbdyno.experiment.clients import libraries_among
from dbdyno.experiment.rate import Rate, read_rates
from dbdyno.experiment.think_time import ThinkTime
from dbdyno.experiment.toml import Table, as_list
from dbdyno.experiment.workload_spec import WorkloadSpec, variants
from dbdyno.experiment.workloads import Kind, Workload

MOST_OF_A_GROUP = MOST_CLIENTS_OF_A_TRIAL
Weight = Annotated[int, Field(ge=1, le=1_000_000)]
PerConnection = Annotated[int, Field(ge=1, le=MOST_PER_CONNECTION)]


def _check_name(text: str) -> str:
    if re.fullmatch(r"[a-z][a-z0-9_]{0,39}", text):
        return text
    raise ValueError(f"'{text}': give a name of small letters, digits and _ that begins with a letter, at most 40")


def _check_numbers(numbers: list[int]) -> list[int]:
    if not numbers or min(numbers) < 1 or len(set(numbers)) < len(numbers):
        raise ValueError("give how many clients the group has, at least 1; each number of a list once")
    check_whole("clients", numbers, MOST_OF_A_GROUP)
    return numbers


def _read_group_rates(value: Any) -> list[Rate]:
    rates = read_rates(value)
    for rate in rates:
        if rate.share:
            raise ValueError(f"{rate.words}: a group has a rate per second, as nothing measures its own capacity")
    if len(rates) > 1 and any(rate.shape != "constant" for rate in rates):
        raise ValueError("a list has constant rates, e.g. [100, 500]; give one ramp or one list of steps")
    return rates


def _read_transactions(value: Any) -> Any:
    if isinstance(value, list) and all(isinstance(name, str) for name in value):
        return dict.fromkeys(value)
    if not isinstance(value, dict):
        raise ValueError('give the names of transactions, ["read"], or names with weights, { read = 3, write = 1 }')
    return value


def _write_transactions(weights: Mapping[str, int | None]) -> Any:
    return dict(weights) if any(weights.values()) else list(weights)


def _write_rates(rates: Sequence[Rate]) -> Any:
    written = [rate.as_written() for rate in rates]
    return written if len(written) > 1 else written[0]


class Group(BaseModel):
    """A group of clients that do the same.

    The text under each key is what docs/reference/experiment-file.md says of it.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    name: Annotated[str, AfterValidator(_check_name)]
    """Its name in tables and reports."""
    number: Annotated[list[int], BeforeValidator(as_list), AfterValidator(_check_numbers)] = [1]
    """How many clients it has; of one group a list, each number a trial."""
    transactions: (
        Annotated[dict[str, Weight | None], BeforeValidator(_read_transactions), PlainSerializer(_write_transactions)]
        | None
    ) = None
    """The transactions of an own workload that it issues, with their weights or with others; all if left out."""
    access: NamedAccess | None = None
    """How it chooses rows; overrides the workload's."""
    rate: Annotated[list[Rate], BeforeValidator(_read_group_rates), PlainSerializer(_write_rates)] | None = None
    """Its transactions per second, an open loop; a list makes a variant of the workload for each."""
    arrivals: Literal["constant", "poisson"] | None = None
    """Gaps between its arrivals: equal, or exponentially distributed."""
    start_seconds: Annotated[int, Field(ge=0, le=MOST_SECONDS)] = 0
    """When it begins, counted from the warm-up's first second."""
    think_time: ThinkTime | None = None
    """Pause between two transactions of a client; overrides the experiment's."""
    transactions_per_connection: PerConnection | None = None
    """A client opens another connection after so many transactions; overrides the experiment's."""

    @model_validator(mode="after")
    def _fits(self) -> "Group":
        if self.arrivals and not self.rate:
            raise ValueError(
                f"clients '{self.name}': a closed loop has no arrivals; give a rate, or leave arrivals out"
            )
        if self.rate and self.think_time:
            raise ValueError(f"clients '{self.name}': an open loop does not think; leave rate or think_time out")
        if self.transactions is not None and not self.transactions:
            raise ValueError(f"clients '{self.name}': give at least one of 'transactions', or leave it out for all")
        return self

    @property
    def rate_option(self) -> str:
        """The option of a workload's variants that names the group's rate."""
        return f"{self.name}_rate"

    def rate_of(self, options: Mapping[str, str]) -> Rate | None:
        """Return its rate in the variant of a workload with these options."""
        given = options.get(self.rate_option)
        rates = self.rate or []
        return next((rate for rate in rates if given in (None, f"{rate.per_s[0]:.10g}")), None)


def take_groups(document: Table) -> Table:
    """Return an experiment's file with `[[clients]]` taken apart: the groups, and how many clients they have together.

    Several rates of a group become variants of each workload, unless the workloads name them. Raises ValueError for two
    lists of numbers, for too many variants, and for a rate that only some workloads name.
    """
    if "groups" in document:
        raise ValueError("there is no key 'groups'; groups of clients are written as [[clients]]")
    entries, names = document.get("clients"), as_list(document.get("workload"))
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
        return dict(document)
    taken = {**document, "groups": entries, "clients": totals(entries)}
    if not all(isinstance(name, str) for name in names):
        return taken
    # A file that dbdyno has written names the variants already.
    rates = {option: values for option, values in rate_variants(entries).items() if not _is_named(option, names)}
    if not rates:
        return taken
    check_variants("rates", [names, *rates.values()])
    return {**taken, "workload": variants(names, rates)}


def _is_named(option: str, workloads: Sequence[str]) -> bool:
    """Return whether the workloads name a group's rate; raises ValueError if one does and another does not."""
    is_in = {text: any(part.startswith(f"{option}=") for part in re.split("[?&]", text)[1:]) for text in workloads}
    if len(set(is_in.values())) > 1:
        group = option.removesuffix("_rate")
        without, named = (next(text for text in workloads if is_in[text] is given) for given in (False, True))
        raise ValueError(
            f"clients '{group}': '{cut(named)}' names one of its rates, and '{cut(without)}' none; "
            "name it in every workload, or in none"
        )
    return any(is_in.values())


def totals(entries: Sequence[Table]) -> list[int]:
    """Return how many clients the groups have together, for each number of the group that has a list.

    Raises ValueError if two groups have lists. The group checks a value that is not a number.
    """
    of_lists = [entry for entry in entries if isinstance(numbers := entry.get("number"), list) and len(numbers) > 1]
    if len(of_lists) > 1:
        name = of_lists[1].get("name")
        raise ValueError(f"clients '{name}': another group has a list as 'number'; give one of them a single number")
    lists = [entry["number"] for entry in of_lists]
    numbers = [as_list(entry.get("number", 1)) for entry in entries]
    flat = [number for group in numbers for number in group]
    if any(isinstance(number, bool) or not isinstance(number, int) for number in flat):
        return [1]
    rest = sum(group[0] for group in numbers if len(group) == 1)
    return [rest + number for number in lists[0]] if lists else [rest]


def rate_variants(entries: Sequence[Table]) -> dict[str, list[str]]:
    """Return, for each group with several rates, its option of the workloads and that option's values."""
    several = {
        f"{entry.get('name')}_rate": rates
        for entry in entries
        if isinstance(rates := entry.get("rate"), list) and len(rates) > 1
    }
    return {
        option: [f"{rate:.10g}" for rate in rates]
        for option, rates in several.items()
        if all(isinstance(rate, int | float) and not isinstance(rate, bool) for rate in rates)
    }


def with_rates(workload: Workload, groups: Sequence[Group]) -> Workload:
    """Return a workload that takes the rates of groups with several as options, which the load client does not see."""
    several = {group.rate_option: group.rate for group in groups if group.rate and len(group.rate) > 1}
    options = {option: tuple(f"{rate.per_s[0]:.10g}" for rate in rates) for option, rates in several.items()}
    return replace(workload, options={**workload.options, **options}, conducted=(*workload.conducted, *options))


def numbers_of(groups: Sequence[Group], clients: int) -> list[int]:
    """Return how many clients each group has in a trial with so many together."""
    rest = clients - sum(group.number[0] for group in groups if len(group.number) == 1)
    return [group.number[0] if len(group.number) == 1 else rest for group in groups]


def check_groups(groups: Sequence[Group], workloads: Sequence[WorkloadSpec], seconds: int) -> None:
    """Raise ValueError if a group is none of a workload's clients, begins too late, or has another's name.

    seconds: of a trial, its warm-up included.
    """
    names = [group.name for group in groups]
    for group in groups:
        if names.count(group.name) > 1:
            raise ValueError(f"clients '{group.name}': two groups have this name")
        if group.start_seconds >= seconds:
            raise ValueError(
                f"clients '{group.name}': begins after {group.start_seconds} s, and a trial has {seconds} s"
            )
        for spec in workloads:
            _check_group(group, spec)


def check_native(
    keys: Sequence[str], pipeline: Sequence[int], clients: Sequence[str], workloads: Sequence[WorkloadSpec]
) -> None:
    """Raise ValueError if keys that only the native load client knows contradict a pipeline, a client or a workload."""
    for key in ("clients" if key == "groups" else key for key in keys):
        if max(pipeline) > 1:
            raise ValueError(
                f"pipeline: sends several requests at once, so {key} cannot hold; leave one of the two out"
            )
        if libraries := libraries_among(clients):
            raise ValueError(f"{key}: '{libraries[0]}' does not do that; leave client out")
        for spec in workloads:
            if spec.kind is not Kind.LOAD:
                raise ValueError(f"{key}: '{spec.name}' is not run by the load client; leave {key} out")


def _check_group(group: Group, spec: WorkloadSpec) -> None:
    what = f"clients '{group.name}'"
    if spec.kind is not Kind.LOAD:
        raise ValueError(f"{what}: '{spec.name}' is not run by clients of the load client; leave [[clients]] out")
    if group.access and "access" not in spec.definition.options:
        raise ValueError(f"{what}: '{spec.name}' chooses no rows, so it takes no access")
    declaration = spec.definition.declaration
    if declaration is None:
        if group.transactions:
            raise ValueError(f"{what}: '{spec.name}' has no transactions to choose from; leave 'transactions' out")
        if group.access and not isinstance(group.access.model_dump(), str):
            raise ValueError(f"{what}: '{spec.name}' takes an access by its name; parameters are for own workloads")
        return
    known = [transaction["name"] for transaction in declaration["transactions"]]
    for name in group.transactions or ():
        if name not in known:
            raise ValueError(
                f"{what}: '{spec.name}' has no transaction '{name}'{did_you_mean(name, known)} "
                f"There are {', '.join(known)}"
            )
    if group.name in (*known, *(statement["name"] for statement in declaration["statements"])):
        raise ValueError(f"{what}: {spec.name} has a transaction or a statement of this name; give the group another")
