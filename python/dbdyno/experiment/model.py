"""The experiment file's keys, their types and what is accepted for each."""

from collections.abc import Sized
from math import prod
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    InstanceOf,
    PlainSerializer,
    model_validator,
)

from dbdyno.experiment.bounds import MOST_REPEAT, MOST_SECONDS, MOST_TRIALS, check_variants
from dbdyno.experiment.clients import NATIVE, check_clients
from dbdyno.experiment.delay import read_delays
from dbdyno.experiment.events import Event, check_events
from dbdyno.experiment.factors import expand_factors
from dbdyno.experiment.groups import Group, check_groups, check_native, take_groups
from dbdyno.experiment.hosts import Hosts
from dbdyno.experiment.keys import (
    check_client_counts,
    check_own,
    check_pipeline,
    read_client_counts,
    read_limit,
    read_percent,
    read_restart,
    read_workloads,
)
from dbdyno.experiment.limit import Limit
from dbdyno.experiment.limits import Bound, read_limits
from dbdyno.experiment.own_workload import OwnWorkload
from dbdyno.experiment.rate import Rate, read_rates
from dbdyno.experiment.scale import at_scale
from dbdyno.experiment.size import size_bytes
from dbdyno.experiment.system_spec import SystemSpec, read_systems
from dbdyno.experiment.think_time import ThinkTime
from dbdyno.experiment.toml import as_list
from dbdyno.experiment.variant import (
    STRICT,
    Arrivals,
    Cpus,
    Directory,
    LoadThreads,
    MemoryLimit,
    PerConnection,
    Rows,
    Seconds,
    TimeoutSeconds,
    WarmupSeconds,
    read_option,
)
from dbdyno.experiment.workload_spec import WorkloadSpec, check_options, own_options, variants
from dbdyno.experiment.workloads import Kind

FEWEST_PAIRS, MOST_PAIRS = 5, 20
"""Repetitions of a run with a wanted precision."""
PASSES = 2
"""Repetitions of a sweep, `clients = "1..64"`, that gives none: one pass could not tell a trend from the host's."""
ON_STALL = "on-stall"
"""The profile that is taken during a trial, if it stalls."""
LEAST_BEFORE_STALL_S, STALL_S = 5, 2
"""Measured seconds that a stall is compared with, and those in a row that show it: many stores have one slow second."""


class Experiment(BaseModel):
    """One experiment, and how each of its trials is run.

    Trials: systems × settings × workloads × pipelines × network delays × rates × clients × repetitions.
    The text under each key is what docs/reference/experiment-file.md says of it.
    """

    model_config = STRICT

    question: str = ""
    """The question that the experiment answers; the report shows it."""
    look_for: str = ""
    """The sentence on what a reader should look for in the result."""
    workloads: Annotated[dict[str, OwnWorkload], AfterValidator(check_own)] = {}
    """Workloads that this file declares, by name; `workload` then names them."""
    options: dict[str, str] = {}
    """Options of all workloads. A list makes one variant of each workload per value."""
    groups: list[Group] = []
    workload: Annotated[
        list[Annotated[InstanceOf[WorkloadSpec], PlainSerializer(str)]], BeforeValidator(read_workloads)
    ]
    """One workload or a list, each as `name` or `name?option=value`."""
    system: Annotated[list[SystemSpec], BeforeValidator(read_systems), Field(min_length=1)]
    """The systems under test: text, a table with `system`, `settings`, `label`, `with`, `scale`, or a list."""
    client: Annotated[list[str], BeforeValidator(as_list), AfterValidator(check_clients)] = [NATIVE]
    """The clients that drive the stores: the native load client, client libraries for Python, or paths of programs."""
    if_missing: Literal["error", "skip"] = "error"
    """A system that is not installed ends the run, or is left out."""
    scale: Literal["small", "medium", "full"] | None = None
    """The size to use, of those in this file; `small` if the file has sizes and nobody chooses."""
    combine: Literal["matrix", "zip"] = "matrix"
    """How several lists make variants: every combination, or the first of each, the second of each and so on."""
    rows: Rows
    """Rows per table, in the workload's own unit (`tpcc` counts warehouses)."""
    clients: Annotated[list[int], BeforeValidator(read_client_counts), AfterValidator(check_client_counts)]
    """Numbers of clients, each a separate trial; `"1..64"` doubles, `"1.."` needs `until_flat`; or `[[clients]]`."""
    rate: Annotated[list[Rate], BeforeValidator(read_rates)] | None = None
    """Transactions per second of an open loop, or shares such as `"50%"` of the closed loops' throughput."""
    arrivals: Arrivals | None = None
    """Gaps between the arrivals of an open loop: equal, or exponentially distributed."""
    find_rate: Annotated[Limit, BeforeValidator(read_limit)] | None = None
    """Searches for the highest rate that holds this limit, such as `"p99 < 10ms"`."""
    limits: Annotated[tuple[Bound, ...], BeforeValidator(read_limits)] = ()
    """Figures that every trial must keep, such as `{ p99 = "< 10ms", errors = 0 }`; a broken one ends with status 1."""
    pipeline: Annotated[list[int], BeforeValidator(as_list), AfterValidator(check_pipeline)] = [1]
    """Requests that a client sends at once before it reads the answers; a list is a factor."""
    network_delay_us: Annotated[list[int], BeforeValidator(read_delays)] = [0]
    """How long a client waits between an answer and its next request; a list is a factor."""
    think_time: ThinkTime | None = None
    """How long a client pauses between two transactions: `"2ms"`, or `{ kind = "exponential", mean = "2ms" }`."""
    transactions_per_connection: PerConnection | None = None
    """After so many transactions a client opens another connection; it keeps the first if this is 0 or left out."""
    restart: Annotated[Literal["lukewarm", "cold"] | None, BeforeValidator(read_restart)] = None
    """Starts the store again before each trial, with its files in the kernel's memory (lukewarm) or not (cold)."""
    train_seconds: Annotated[int, Field(ge=0, le=MOST_SECONDS)] = 0
    """Seconds of the load before the stop of a `restart`, in a closed loop: the cache that a store keeps is of it."""
    ceiling: bool = True
    """Measures the load client alone, too."""
    observe: bool = True
    """Watches host, processes and stores while a trial runs."""
    host: bool = True
    """Measures the host itself for two seconds before the first trial."""
    seconds: Seconds
    """Measured seconds of each trial."""
    warmup_seconds: WarmupSeconds = 1
    """Seconds before these. They are recorded, and figures leave them out."""
    warmup: Literal["auto"] | None = None
    """`"auto"` cuts at the detected steady state, but never before `warmup_seconds`."""
    repeat: Annotated[int, Field(ge=1, le=MOST_REPEAT)] = 1
    """How often each trial is run; repeated trials are prepared anew and run in random order."""
    precise: Annotated[float, BeforeValidator(read_percent)] | None = None
    """Repeats 5 to 20 times, until the interval of every comparison is this narrow, such as `"1%"`."""
    until_flat: Annotated[float, BeforeValidator(read_percent)] | None = None
    """Ends a sweep of clients when two steps rise by less than this over the best before, such as `"3%"`."""
    seed: Annotated[int, Field(ge=0, lt=1 << 63)] = 1
    """The source of every random choice; the same seed repeats them."""
    operation_timeout_seconds: TimeoutSeconds = 10
    """An operation without an answer after so long is an error."""
    cpus: Cpus = Cpus()
    """Processors that client and servers are pinned to, such as `{ client = [0], server = [1] }`."""
    load_threads: LoadThreads | None = None
    """Threads of the load client (default: half of its processors, at least two)."""
    memory_limit: MemoryLimit | None = None
    """Memory limit of each server, such as `"512M"`."""
    data_dir: Directory | None = None
    """Directory below which servers keep their data, and so the disk (default: `DBDYNO_DATA_DIR`)."""
    hosts: Hosts | None = None
    """Hosts that issue the load instead of this one: a table with `address` and `client`."""
    confirm_limit: bool = False
    """Runs every trial again with less of what limited it, or with one setting changed."""
    keep: bool = False
    """Leaves on an attached store what dbdyno made there."""
    profile: bool | Literal["on-stall"] = False
    """Records stacks of server and client: `true` with the same load after each trial, `"on-stall"` during a stall."""
    events: Annotated[list[Event], AfterValidator(check_events)] = []
    """Events at a second of every trial, beside the load: tables with the keys below."""

    @model_validator(mode="before")
    @classmethod
    def _variants_of_options(cls, data: Any) -> Any:
        """Make a variant of each workload for each combination of the options that are lists: `batch-get?batch=10`."""
        if not isinstance(data, dict) or not isinstance(data.get("options"), dict):
            return data
        options = {key: [read_option(choice) for choice in as_list(value)] for key, value in data["options"].items()}
        lists = {key: options.pop(key) for key, value in data["options"].items() if isinstance(value, list)}
        data = {**data, "options": {key: value for key, (value,) in options.items()}}
        names = as_list(data.get("workload"))
        if not lists or not all(isinstance(name, str) for name in names):
            return data
        check_variants("options", [names, *lists.values()])
        return {**data, "workload": variants(names, lists)}

    @model_validator(mode="before")
    @classmethod
    def _variants_of_keys(cls, data: Any) -> Any:
        """Give each system its choices of the keys that are lists."""
        return expand_factors(data) if isinstance(data, dict) else data

    @model_validator(mode="before")
    @classmethod
    def _least_repetitions(cls, data: Any) -> Any:
        """Put in how often to repeat if the file leaves it out and asks for what one trial cannot give."""
        if not isinstance(data, dict):
            return data
        clients = data.get("clients")
        if isinstance(clients, str) and clients.rstrip().endswith("..") and data.get("until_flat") is None:
            raise ValueError(f'clients: {clients} needs something to end it: until_flat = "3%", or a last number')
        if "repeat" in data:
            return data
        if data.get("precise") is not None:
            return {**data, "repeat": FEWEST_PAIRS}
        if isinstance(data.get("clients"), str) and data.get("until_flat") is None:
            return {**data, "repeat": PASSES}
        return data

    @model_validator(mode="before")
    @classmethod
    def _groups_of_clients(cls, data: Any) -> Any:
        """Take `[[clients]]` apart: into the groups, and how many clients they have together."""
        return take_groups(data) if isinstance(data, dict) else data

    @model_validator(mode="before")
    @classmethod
    def _at_scale(cls, data: Any) -> Any:
        """Put in what is given by scale. The last of its kind is run first: the others see what was chosen."""
        return at_scale(data) if isinstance(data, dict) else data

    @model_validator(mode="after")
    def _options_fit(self) -> "Experiment":
        for spec in (spec for variant in self.variants for spec in variant.workload):
            check_options(spec)
        return self

    @model_validator(mode="after")
    def _can_be_run(self) -> "Experiment":
        """Refuse more trials than anybody could wait for, before they are made."""
        factors: tuple[Sized, ...] = (
            self.system,
            self.client,
            self.workload,
            self.pipeline,
            self.network_delay_us,
            self.clients,
        )
        count = prod(map(len, factors)) * len(self.rate or (None,)) * self.repeat
        if count > MOST_TRIALS:
            raise ValueError(f"these are {count:,} trials; a run has at most {MOST_TRIALS:,}: give less of something")
        return self

    @model_validator(mode="after")
    def _precision_fits(self) -> "Experiment":
        """Refuse a precision that cannot be reached by repeating."""
        if self.precise is None:
            return self
        if not FEWEST_PAIRS <= self.repeat <= MOST_PAIRS:
            raise ValueError(f"precise: repeats {FEWEST_PAIRS} to {MOST_PAIRS} times; leave repeat out, or give that")
        if self.rate or self.find_rate:
            raise ValueError("precise: the throughput of an open loop is the requested rate; leave one of the two out")
        return self

    @model_validator(mode="after")
    def _flat_fits(self) -> "Experiment":
        """Refuse to end a sweep early that is no sweep, or whose steps do not rise."""
        if self.until_flat is None:
            return self
        if (self.rate and not self.of_capacity) or self.find_rate:
            raise ValueError("until_flat: an open loop's throughput is the requested rate; leave one of the two out")
        if self.prepared_alone:
            raise ValueError(
                "until_flat: repeated, restarted and crashed trials run the numbers of clients in random order. "
                "Leave until_flat out, or repeat and restart"
            )
        if self.clients != sorted(self.clients):
            raise ValueError("until_flat: give numbers of clients that rise, e.g. [1, 2, 4, 8]")
        return self

    @model_validator(mode="after")
    def _loops_fit(self) -> "Experiment":
        """Refuse what contradicts itself about the open loop, with the keys of any system."""
        for variant in self.variants:
            variant._check_loop()
        return self

    def _check_loop(self) -> None:
        if self.rate and self.find_rate:
            raise ValueError("rate and find_rate: one gives the rate, the other searches for it; leave one out")
        if self.profile and self.find_rate:
            raise ValueError("profile: a search has many loads; find the rate, then profile a run with that rate")
        if self.arrivals and not (self.rate or self.find_rate):
            raise ValueError("arrivals: a closed loop has none; give a rate (or find_rate), or leave arrivals out")
        if (self.rate or self.find_rate) and max(self.pipeline) > 1:
            raise ValueError(
                "pipeline sends several requests at once, an open loop sends each at its own time; leave one out"
            )
        if self.train_seconds and not self.restart:
            raise ValueError("train_seconds: the load before a restart; give restart too, or leave train_seconds out")
        if self.restart and self.find_rate:
            raise ValueError("restart: the steps of a search share one start; leave one of the two out")
        for rate in self.rate or ():
            if self.warmup and rate.length_s:
                raise ValueError("warmup = 'auto': a rate that changes has no steady state; give warmup_seconds alone")
            if rate.length_s > self.seconds:
                raise ValueError(
                    f"rate: {rate.shape} of {rate.length_s} s in all, but only {self.seconds} s are measured; "
                    f"give seconds = {rate.length_s} or more"
                )

    @model_validator(mode="after")
    def _stalls_can_be_profiled(self) -> "Experiment":
        """Refuse to wait for a stall if something else changes throughput, or if its seconds cannot be left out."""
        if self.profile != ON_STALL:
            return self
        if self.seconds <= LEAST_BEFORE_STALL_S + STALL_S:
            least = LEAST_BEFORE_STALL_S + STALL_S + 1
            raise ValueError(
                f"profile: on-stall compares a stall with what was before it; give seconds = {least} or more"
            )
        if self.warmup:
            raise ValueError("profile: on-stall leaves seconds out of the steady state; give warmup_seconds, not auto")
        if any(rate.length_s for rate in self.rate or ()):
            raise ValueError("profile: a rate that changes looks like a stall; profile a constant rate on-stall")
        for spec in self.workload:
            if spec.kind is Kind.PROGRAM:
                raise ValueError(f"profile: '{spec.name}' has times of the whole run only; leave on-stall out")
        return self

    @model_validator(mode="after")
    def _pace_fits(self) -> "Experiment":
        """Refuse what contradicts itself about groups of clients, their pauses and their connections."""
        for variant in self.variants:
            check_groups(self.groups, variant.workload, variant.warmup_seconds + variant.seconds)
        if self.groups and (self.rate or self.find_rate or self.arrivals):
            raise ValueError("rate: each group of [[clients]] has its own; leave rate, find_rate and arrivals out")
        if self.think_time and (self.rate or self.find_rate):
            raise ValueError(
                "think_time: an open loop begins each transaction at its own time; leave one of the two out"
            )
        keys = ("groups", "think_time", "transactions_per_connection")
        native = [key for key in keys if any(getattr(variant, key) for variant in self.variants)]
        check_native(native, self.pipeline, self.client, self.workload)
        return self

    @model_validator(mode="after")
    def _limits_fit(self) -> "Experiment":
        """Refuse limits on what has no such figures, or breaks them on purpose."""
        if self.limits and self.find_rate:
            raise ValueError("limits: a rate search goes beyond its limit on purpose; leave out limits or find_rate")
        for spec in self.workload if self.limits else ():
            if spec.kind not in (Kind.LOAD, Kind.PROGRAM):
                raise ValueError(f"limits: '{spec.name}' has no clients whose times and errors count; leave limits out")
        return self

    @model_validator(mode="after")
    def _events_fit(self) -> "Experiment":
        """Refuse events beside what must be undisturbed, or on what no clients load."""
        asked = {
            "find_rate": self.find_rate is not None,
            "until_flat": self.until_flat is not None,
            "confirm_limit": self.confirm_limit,
            "warmup = 'auto'": self.warmup is not None,
            "profile = 'on-stall'": self.profile == "on-stall",
        }
        for key, is_asked in asked.items() if self.events else ():
            if is_asked:
                raise ValueError(f"events: {key} needs trials that nothing disturbs; leave one out")
        for spec in self.workload if self.events else ():
            if spec.kind is not Kind.LOAD:
                raise ValueError(f"events: '{spec.name}' runs without clients of dbdyno; leave events out")
        return self

    def of(self, spec: SystemSpec) -> "Experiment":
        """Return the experiment as one of its systems has it, with the keys of its variant."""
        given, variant = spec.variant.given, spec.variant
        if not given:
            return self
        update = {key: value for key, value in given.items() if "." not in key}
        if "restart" in given:
            update["restart"] = read_restart(variant.restart)
        cpus = {side: given.get(f"cpus.{side}", getattr(self.cpus, side)) for side in ("client", "server")}
        options = {**self.options, **variant.options}
        workload = [own_options(workload, variant.options) for workload in self.workload]
        return self.model_copy(update={**update, "cpus": Cpus(**cpus), "options": options, "workload": workload})

    @property
    def variants(self) -> list["Experiment"]:
        """The experiment as its systems have it, each that differs once."""
        own = [self.of(spec) for spec in self.system]
        return list({id(variant): variant for variant in own}.values())

    @property
    def of_capacity(self) -> bool:
        """Return whether the rates are shares of what closed loops measure first; they all are, or none."""
        return any(rate.share for rate in self.rate or ())

    @property
    def prepared_alone(self) -> bool:
        """Return whether each trial has its own preparation."""
        crashes = any(workload.kind is Kind.CRASH for workload in self.workload)
        restarts = any(variant.restart is not None for variant in self.variants)
        return self.repeat > 1 or restarts or crashes

    @property
    def data_directory(self) -> Path | None:
        """The directory below which servers keep their data, or None."""
        return Path(self.data_dir) if self.data_dir else None

    @property
    def memory_limit_bytes(self) -> int | None:
        """The memory limit of each server in bytes, or None."""
        return size_bytes(self.memory_limit) if self.memory_limit else None
