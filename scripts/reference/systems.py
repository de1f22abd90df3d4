"""The workloads that each system runs, from what systems and workloads declare."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from scripts.reference.markdown import code, codes, page, prose, table

from dbdyno.conduct.kinds import kind_of
from dbdyno.errors import UserError
from dbdyno.experiment.model import Experiment
from dbdyno.experiment.system_spec import format_system, parse_system
from dbdyno.experiment.workload_spec import WorkloadSpec, missing_operations
from dbdyno.experiment.workloads import WORKLOADS, Workload
from dbdyno.systems import ATTACHED, SYSTEMS, build
from dbdyno.systems.base import System
from dbdyno.systems.embedded.engine import Engine
from dbdyno.systems.packages.catalogue import PACKAGES

INTRODUCTION = """
This page lists what each system declares. [Systems](../systems.md) has a page for each of them.
"""
TAKES_A_REPLICA = ("kill-replica",)
"""Values of options that are for arrangements with replicas alone: the pages of the workloads say so."""
PARTIAL = """
A workload in brackets runs with these options alone. dbdyno refuses all others before anything starts.
"""


@dataclass(frozen=True)
class Entry:
    """One configuration of a system in the tables: how a person calls it, how an experiment does, and its page."""

    title: str
    spec: str
    page: str


ENTRIES = (
    Entry("MariaDB", "mariadb", "mariadb"),
    Entry("MariaDB with MyISAM, Aria, Mroonga or MEMORY", "mariadb?engine=MyISAM", "mariadb"),
    Entry("MariaDB with Spider", "mariadb?engine=Spider", "spider"),
    Entry("MySQL", "mysql@8.0", "mysql"),
    Entry("HandlerSocket", "handlersocket", "handlersocket"),
    Entry("TiDB", "tidb", "tidb"),
    Entry("PostgreSQL", "postgresql", "postgresql"),
    Entry("memcached", "memcached", "memcached"),
    Entry("Redis", "redis", "redis"),
    Entry("Valkey", "valkey", "redis"),
    Entry("MongoDB", "mongodb", "mongodb"),
    Entry("Tokyo Tyrant", "tokyotyrant?type=table", "tokyotyrant"),
    Entry("FerretDB", "ferretdb", "ferretdb"),
    Entry("Cassandra", "cassandra", "cassandra"),
    Entry("SQLite", "sqlite", "sqlite"),
    Entry("LMDB", "lmdb", "lmdb"),
    Entry("RocksDB", "rocksdb", "rocksdb"),
    Entry("Tokyo Cabinet", "tokyocabinet", "tokyocabinet"),
    Entry("Kyoto Cabinet", "kyotocabinet", "kyotocabinet"),
    Entry("Tkrzw", "tkrzw", "tkrzw"),
    Entry("DuckDB", "duckdb", "duckdb"),
    Entry("chDB", "chdb", "chdb"),
    Entry("MonetDB", "monetdb", "monetdb"),
    Entry("ClickHouse", "clickhouse", "clickhouse"),
    Entry("Galera", "galera", "galera"),
    Entry("primary and replicas", "replicated(mariadb*2)", "replicated"),
    Entry("cache in front of a store", "cache-aside(memcached, mariadb)", "cache-aside"),
    Entry("pool of result caches", "result-cache(memcached*3, mariadb)", "result-cache"),
    Entry("a server copied into another", "copy(mariadb, mysql@8.0)", "copy"),
    Entry("pooler in front of PostgreSQL", "via(pgbouncer, postgresql)", "via"),
    Entry("pooler in front of MySQL or MariaDB", "via(proxysql, mariadb)", "via"),
    Entry("attached: MySQL protocol", "mysql://user@host/database", "mysql"),
    Entry("attached: PostgreSQL", "postgresql://user@host/database", "postgresql"),
    Entry("attached: Redis protocol", "redis://host", "redis"),
    Entry("attached: Redis protocol, TLS", "rediss://host", "redis"),
    Entry("attached: memcached", "memcached://host", "memcached"),
    Entry("attached: MongoDB protocol", "mongodb://user@host/database", "ferretdb"),
    Entry("attached: Cassandra", "cassandra://user@host/keyspace", "cassandra"),
    Entry("attached: nodes of a cluster", "spread(mysql://user@one/database, mysql://user@two/database)", "spread"),
)
"""Systems under their titles, and those of their configurations that run other workloads."""
PAGES = Path(__file__).parents[2] / "docs" / "systems"
ENGINES_PAGE = "../embedded"
"""The page of embedded engines that have none of their own."""


def entries() -> list[Entry]:
    """Return ENTRIES and, behind its relatives, every other system: under the first words of what it is.

    Raises ValueError if there is no page for a system.
    """
    every = list(ENTRIES)
    named = {spec.name for entry in ENTRIES if not (spec := parse_system(entry.spec)).url}
    for name, system in SYSTEMS.items():
        if name not in named:
            entry = Entry(system.what.partition(",")[0], name, _page_of(system))
            relatives = [i for i, other in enumerate(every) if _is_relative(system, other)]
            every.insert(relatives[-1] + 1 if relatives else len(every), entry)
    return every


def _page_of(system: type[System]) -> str:
    """Return the page of a system: its own, that of the system it derives from, or that of all engines."""
    names = (vars(known).get("name") for known in system.__mro__)
    own = next((name for name in names if name and (PAGES / f"{name}.md").exists()), None)
    if own is None and not issubclass(system, Engine):
        raise ValueError(f"docs/systems/{system.name}.md is missing")
    return own or ENGINES_PAGE


def _is_relative(system: type[System], other: Entry) -> bool:
    """Return whether the system of an entry is in the same folder."""
    spec = parse_system(other.spec)
    known = None if spec.url else SYSTEMS.get(spec.name)
    return known is not None and known.__module__.rpartition(".")[0] == system.__module__.rpartition(".")[0]


def engine_settings() -> str:
    """Return the table of the embedded engines' settings and of what `sync` promises."""
    engines = {name: system for name, system in SYSTEMS.items() if issubclass(system, Engine)}
    rows = ((code(name), _settings(system), _promises(system)) for name, system in engines.items())
    return table(("System", "Settings", "Durability class by `sync`"), rows)


def _settings(engine: type[Engine]) -> str:
    choices = [code(f"{key}={'|'.join(values)}") for key, values in engine.choices.items()]
    only_with = getattr(engine, "only_with", {})
    numbers = [
        code(f"{key}={value}" if value else key) + (f" ({only_with[key][1]})" if key in only_with else "")
        for key, value in engine.numbers.items()
    ]
    return ", ".join(choices + numbers)


def _promises(engine: type[Engine]) -> str:
    return ", ".join(f"{code(sync)} {level}" for sync, level in engine.levels.items())


def systems_page() -> str:
    """Return the page of systems: what each runs, and the versions that dbdyno gets."""
    unnamed = ATTACHED.keys() - {parse_system(entry.spec).name for entry in ENTRIES}
    if unnamed:
        raise ValueError(f"ENTRIES in scripts/reference/systems.py lacks {', '.join(sorted(unnamed))}")
    workloads = [(f"[{entry.title}](../{_path(entry)})", code(entry.spec), runs(entry)) for entry in entries()]
    return page(
        "Systems and what they run",
        prose(INTRODUCTION),
        "## Workloads",
        prose(PARTIAL),
        table(("System", "In an experiment", "Workloads"), workloads),
        "## What each system is",
        table(("System", "What", "Client libraries"), _whats()),
        "## Versions",
        prose("`dbdyno systems install NAME` gets one of these. [Versions](../systems.md#versions) explains them."),
        table(("Name", "Release", "Got by", "Download"), _versions()),
    )


def readme_table() -> str:
    """Return a short table for the README: systems that run the same workloads share a row."""
    groups: dict[str, list[Entry]] = {}
    for entry in entries():
        groups.setdefault(runs(entry), []).append(entry)
    rows = ((_links(entries), workloads) for workloads, entries in groups.items())
    return table(("Systems", "Workloads"), rows)


def at_a_glance(name: str) -> str:
    """Return the table of one page in docs/systems: each configuration on it."""
    rows = [(entry.title, code(entry.spec), runs(entry)) for entry in entries() if entry.page == name]
    return table(("What", "In an experiment", "Workloads"), rows)


def runs(entry: Entry) -> str:
    """Return the workloads that a configuration runs, or those that it does not if these are fewer."""
    system = build(parse_system(entry.spec))
    can = {name: said for name, workload in WORKLOADS.items() if (said := _said(workload, system))}
    lacking = WORKLOADS.keys() - can.keys()
    partial = [said for name, said in can.items() if said != code(name)]
    if len(lacking) * 2 >= len(WORKLOADS):
        return ", ".join(can.values())
    left_out = codes(name for name in WORKLOADS if name in lacking)
    return ", ".join([f"all but {left_out}" if lacking else "all", *partial])


def _said(workload: Workload, system: System) -> str:
    """Return a workload with the options that the system runs it with; nothing if it does not run it."""
    if not _is_conducted(workload, system) or not _accepts(WorkloadSpec(workload, {}, {}), system):
        return ""
    restricted = []
    for option in workload.options:
        tried = _tried(workload, option)
        accepted = [value for value in tried if _accepts(WorkloadSpec(workload, {option: value}, {}), system)]
        if len(accepted) < len(tried):
            restricted.append(f"{option} = {', '.join(accepted)}")
    return f"{code(workload.name)} ({'; '.join(restricted)})" if restricted else code(workload.name)


def _tried(workload: Workload, option: str) -> list[str]:
    """Return the values of an option that are tried: all, but of a range only the ends."""
    values = workload.options[option]
    tried = map(str, (values[0], values[-1]) if isinstance(values, range) else values)
    return [value for value in tried if value not in TAKES_A_REPLICA]


def _is_conducted(workload: Workload, system: System) -> bool:
    """Return whether the workload takes an experiment of this system alone, such as an attached one."""
    experiment = Experiment.model_validate(
        {"workload": workload.name, "system": format_system(system.spec), "rows": 1, "clients": 1, "seconds": 1}
    )
    spec = experiment.workload[0]
    try:
        kind_of(spec).refuse(experiment, spec)
    except UserError:
        return False
    return True


def _accepts(spec: WorkloadSpec, system: System) -> bool:
    if missing_operations(spec, system.operations):
        return False
    try:
        kind_of(spec).refuse_system(spec, system)
    except UserError:
        return False
    return True


def _links(entries: list[Entry]) -> str:
    """Return the titles of entries as links to their pages, those of attached servers behind the others."""
    by_kind = groupby(sorted(entries, key=_is_attached), key=_is_attached)
    return "; ".join(", ".join(f"[{entry.title}](docs/{_path(entry)})" for entry in kind) for _, kind in by_kind)


def _path(entry: Entry) -> str:
    """Return the path of the page of an entry, from docs/."""
    return "embedded.md" if entry.page == ENGINES_PAGE else f"systems/{entry.page}.md"


def _is_attached(entry: Entry) -> bool:
    return entry.title.startswith("attached")


def _whats() -> Iterator[tuple[str, str, str]]:
    for name, system in SYSTEMS.items():
        yield code(name), system.what, codes(system.libraries)
    for scheme, system in ATTACHED.items():
        yield code(f"{scheme}://"), system.what, codes(system.libraries)


def _versions() -> Iterator[tuple[str, ...]]:
    for package in PACKAGES.values():
        yield code(package.name), package.release, package.client, f"{package.size_bytes / 1e6:,.0f} MB"
