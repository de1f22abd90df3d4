"""The rows of the table, in groups that share a server; `benches/README.md` says what each means."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from itertools import starmap
from pathlib import Path
from typing import Any

from benches import engines, load, peers, published, servers
from benches.measured import Outcome, Placement, Sample, added
from benches.rows import Measure, Row, difference
from benches.servers import Bench, Started
from dbdyno.conduct.loading import loading_clients

Group = Callable[[Bench, Placement], AbstractContextManager[list[Row]]]
SAME, APART, FREE = "same", "apart", "free"
MANY, FEW = 10_000, 100
WAREHOUSES, TERMINALS = 10, 16
OPEN_RATE = 20_000
"""Arrivals a second of the open loop, from one load thread."""


def _cpu(limit: float) -> Measure:
    return Measure("client CPU per operation", "µs", lambda sample: sample.cpu_us, {SAME: limit})


def _rate(limits: dict[str, float]) -> Measure:
    return Measure("operations/s", "/s", lambda sample: sample.rate_per_s, limits, at_least=True)


_USER = Measure("its user part", "µs", lambda sample: sample.user_us, {SAME: 0.30})
_FOR_INFORMATION = _rate({})
_CPU_FOR_INFORMATION = replace(_cpu(1.0), limits={})
_AGAINST_PGBENCH = ((64, {SAME: 0.85}), (256, {}))
"""Clients, and the limit of the ratio. With 256 the better bare loop is the limit: nothing that sends and receives does
with half of pgbench's cost."""
_LEAST = {SAME: 1.10}
"""The limit against each bare loop with 256 clients, so also against the better one."""
_LOOPS: tuple[tuple[str, str, dict[str, float]], ...] = (
    ("epoll", "bare-postgres", _LEAST),
    ("io_uring", "bare-postgres-uring", _LEAST),
    ("io_uring that waits for one answer", "bare-postgres-uring-first", _LEAST),
    ("io_uring that reads and times", "bare-postgres-uring-work", {}),
)
"""The ways of the loops in C, their programs, and the limits of the ratios."""
_NULL = tuple(f"null-{protocol}" for protocol in servers.NULL_STORES if protocol != "memcached")
_ISSUE_2 = 0.80
"""The limit of the first run, kept as a row: the load engine's own limit is stricter."""


@contextmanager
def _mariadb(bench: Bench, placement: Placement) -> Iterator[list[Row]]:
    with servers.mariadb(bench, placement) as started:
        servers.fill(started, bench.rows, placement)
        peers.sysbench(started.system.endpoint, "prepare", bench.rows, placement)
        clients = (1, 64, 256) if placement.name != FREE else (1, 4, 16, 64, 256)
        yield [
            *(_against_sysbench(bench, placement, started, n) for n in clients),
            _bare(bench, placement, started, "mysql"),
            *engines.rows(bench, placement, started, "mysql"),
            *([_memory_of_64(bench, placement, started)] if placement.name == SAME else []),
        ]


def _against_sysbench(bench: Bench, placement: Placement, started: Started, clients: int) -> Row:
    cpu = (_cpu(1.00),) if clients == 1 else (_cpu(0.55), _USER)
    first_run = (_first_run(),) if clients == 64 and placement.name == SAME else ()
    rate = _rate({FREE: 1.00} if clients == 1 else {SAME: 1.25, FREE: 1.00})
    return Row(
        f"sysbench-{clients}",
        f"sysbench oltp_point_select, {clients} clients",
        (*cpu, *first_run, rate),
        _ours(bench, placement, started, clients),
        lambda: peers.sysbench_run(started.system.endpoint, clients, bench.seconds, bench.rows, placement),
    )


def _first_run() -> Measure:
    return Measure("client CPU per operation (first run's limit)", "µs", lambda s: s.cpu_us, {SAME: _ISSUE_2})


def _ours(
    bench: Bench, placement: Placement, started: Started, clients: int, pipeline: int = 1, seconds: int | None = None
) -> Callable[[], Sample]:
    more = {"pipeline": pipeline} if pipeline > 1 else {}
    duration_s = seconds or bench.seconds
    wanted = load.plan(started.store, bench.rows, load.MEASURE, clients=clients, duration_s=duration_s, **more)
    return lambda: load.measure(wanted, placement)


def _bare(bench: Bench, placement: Placement, started: Started, protocol: str) -> Row:
    return Row(
        f"bare-{protocol}",
        f"a bare epoll loop, {protocol}, 64 connections",
        (_cpu(1.25), _FOR_INFORMATION),
        _ours(bench, placement, started, 64),
        _loop(bench, placement, started, protocol, 64),
    )


def _loop(bench: Bench, placement: Placement, started: Started, name: str, clients: int) -> Callable[[], Sample]:
    program, port = bench.folder / f"bare-{name}", started.system.endpoint.port
    return lambda: peers.bare_loop(program, port, clients, bench.seconds, bench.rows, placement)


@contextmanager
def _postgresql(bench: Bench, placement: Placement) -> Iterator[list[Row]]:
    with servers.postgresql(bench, placement) as on_socket:
        peers.pgbench(on_socket.system.endpoint, placement, "-i", "-q", "-s", str(max(1, bench.rows // 100_000)))
        by_tcp = on_socket.by_tcp()

        def against(started: Started, name: str, how: str, clients: int, limits: dict[str, float]) -> Row:
            return Row(
                f"{name}-{clients}",
                f"pgbench -S -M prepared, {how}, {clients} clients",
                (replace(_CPU_FOR_INFORMATION, limits=limits), _FOR_INFORMATION),
                _ours(bench, placement, started, clients, seconds=peers.pgbench_seconds(clients, bench.seconds)),
                lambda: peers.pgbench_run(started.system.endpoint, clients, bench.seconds, placement),
            )

        def loop(program: str) -> Callable[[], Sample]:
            return _loop(bench, placement, by_tcp, program.removeprefix("bare-"), 256)

        def against_least(way: str, program: str, limits: dict[str, float]) -> Row:
            return Row(
                f"{program}-256",
                f"a bare loop by {way}, postgres, 256 connections",
                (replace(_CPU_FOR_INFORMATION, limits=limits), replace(_USER, limits={}), _FOR_INFORMATION),
                _ours(bench, placement, by_tcp, 256),
                loop(program),
            )

        def least(way: str, program: str, _: dict[str, float]) -> Row:
            return Row(
                f"{program}-256-of-pgbench",
                f"pgbench -S -M prepared, TCP, 256 clients; in dbdyno's place a bare loop by {way}",
                (_CPU_FOR_INFORMATION, _FOR_INFORMATION),
                loop(program),
                lambda: peers.pgbench_run(by_tcp.system.endpoint, 256, bench.seconds, placement),
            )

        yield [
            *(against(by_tcp, "pgbench", "TCP", *of) for of in _AGAINST_PGBENCH),
            *(against(on_socket, "pgbench-unix", "Unix socket", *of) for of in _AGAINST_PGBENCH),
            _bare(bench, placement, by_tcp, "postgres"),
            *starmap(against_least, _LOOPS),
            *starmap(least, _LOOPS),
        ]


@contextmanager
def _null(bench: Bench, placement: Placement) -> Iterator[list[Row]]:
    with ExitStack() as stack:

        def measured(protocol: str) -> Callable[[], Sample]:
            store = stack.enter_context(servers.null_server(bench, placement, protocol))
            wanted = load.plan(store, bench.rows, load.MEASURE, clients=64, duration_s=bench.seconds)
            return lambda: load.measure(wanted, placement)

        what, memcached = "itself over the memcached protocol, null servers, 64 clients", measured("memcached")
        yield [Row(name, what, (_cpu(1.30),), measured(name.removeprefix("null-")), memcached) for name in _NULL]


@contextmanager
def _ferretdb(bench: Bench, placement: Placement) -> Iterator[list[Row]]:
    with servers.ferretdb(bench, placement) as started:
        wanted = load.plan(started.store, servers.FERRETDB_ROWS, load.MEASURE, clients=1, duration_s=bench.seconds)
        port = started.system.endpoint.port
        yield [
            Row(
                "pymongo-1",
                "pymongo, find_one by _id, 1 client",
                (_cpu(0.25),),
                lambda: load.measure(wanted, placement),
                lambda: peers.pymongo_gets(port, bench.seconds, servers.FERRETDB_ROWS, placement),
            )
        ]


@contextmanager
def _redis(bench: Bench, placement: Placement) -> Iterator[list[Row]]:
    with servers.redis_server(bench, placement) as (started, client):
        peers.fill_for_redis_benchmark(client, bench.rows, int(client.strlen("dbdyno:bm:1")))
        port = started.system.endpoint.port

        def against(name: str, pipeline: int, limit: float) -> Row:
            return Row(
                name,
                f"redis-benchmark -t get -r {bench.rows} -c 64 -P {pipeline}",
                (_cpu(limit), _FOR_INFORMATION),
                _ours(bench, placement, started, 64, pipeline),
                lambda: peers.redis_benchmark(client, port, pipeline, bench.seconds, bench.rows, placement),
            )

        yield [
            against("redis-benchmark", 1, 0.75),
            against("redis-benchmark-p16", 16, 1.20),
            _bare(bench, placement, started, "redis"),
            *engines.rows(bench, placement, started, "redis"),
        ]


@contextmanager
def _memcached(bench: Bench, placement: Placement) -> Iterator[list[Row]]:
    with servers.memcached(bench, placement) as started:
        yield [_bare(bench, placement, started, "memcached"), *engines.rows(bench, placement, started, "memcached")]


@contextmanager
def _lmdb(bench: Bench, placement: Placement) -> Iterator[list[Row]]:
    with servers.lmdb(bench, placement) as (started, directory):
        modes = ("renew", "begin", "touch", "work", "held")
        yield [_against_lmdb(bench, placement, started, directory, mode) for mode in modes]


def _against_lmdb(bench: Bench, placement: Placement, started: Started, directory: Path, mode: str) -> Row:
    # Against one transaction held for ever the figure includes what a transaction costs, which no client can save;
    # against a loop that reads the row it leaves out what reading costs.
    limits = {SAME: 150.0} if mode in ("renew", "begin") else {}
    added = Measure("added CPU per get", "ns", lambda s: s.cpu_us * 1000, limits, combine=difference, figure_unit="ns")
    program = bench.folder / "bare-lmdb"
    return Row(
        f"lmdb-{mode}",
        f"a bare loop of LMDB gets ({mode}), 1 thread",
        (added,),
        _ours(bench, placement, started, 1),
        lambda: peers.bare_lmdb(program, directory, bench.seconds, bench.rows, mode, placement),
    )


def _load_on(name: str, settings: str, limits: dict[str, float], alone: str | None = None) -> Group:
    """Return the group: each load into a server just started, whose CPU is its own from the start.

    alone: the name of a second row, in which the server itself fills a copy of the table in dbdyno's place.
    """

    @contextmanager
    def group(bench: Bench, placement: Placement) -> Iterator[list[Row]]:
        def load_rows(started: Started) -> Outcome:
            wanted = load.plan(
                started.store, bench.load_rows, load.PREPARE, workload="secondary-get", clients=loading_clients()
            )
            return load.execute(wanted, placement)[0]

        def ours() -> Sample:
            with servers.mariadb(bench, placement, settings) as started:
                return servers.with_server_cpu(started, bench.load_rows, lambda: load_rows(started))

        def server_alone() -> Sample:
            with servers.mariadb(bench, placement, settings) as started:
                load_rows(started)
                return servers.with_server_cpu(
                    started, bench.load_rows, lambda: peers.copy_in_server(started.system.endpoint, placement)
                )

        def theirs() -> Sample:
            with servers.mariadb(bench, placement, settings) as started:
                endpoint = started.system.endpoint
                return servers.with_server_cpu(
                    started, bench.load_rows, lambda: peers.sysbench(endpoint, "prepare", bench.load_rows, placement)
                )

        against = f"sysbench prepare, {bench.load_rows} rows"
        rows = [Row(name, against, _load_measures(limits), ours, theirs)]
        yield [*rows, *([Row(alone, against, _load_measures({}), server_alone, theirs)] if alone else [])]

    return group


def _load_measures(limits: dict[str, float], per: str = "row") -> tuple[Measure, ...]:
    return (
        Measure("load time", "s", lambda sample: sample.seconds, limits),
        Measure(f"CPU of client and server per {per}", "µs", servers.cpu_of_both_us),
        Measure(f"client CPU per {per}", "µs", lambda sample: sample.cpu_us),
        Measure(f"server CPU per {per}", "µs", lambda sample: sample.details["server_cpu_us"]),
        Measure("its user part", "µs", lambda sample: sample.details["server_user_us"]),
    )


def _tpcc_plan(started: Started, phases: list[str], clients: int, **more: int) -> dict[str, Any]:
    return load.plan(started.store, WAREHOUSES, phases, workload="tpcc", clients=clients, **more)


@contextmanager
def _tpcc(bench: Bench, placement: Placement) -> Iterator[list[Row]]:
    with servers.mariadb(bench, placement, servers.SPACIOUS) as started:
        load.execute(_tpcc_plan(started, load.PREPARE, loading_clients()), placement)
        wanted = _tpcc_plan(started, load.MEASURE, TERMINALS, duration_s=bench.seconds)
        endpoint = started.system.endpoint
        row = Row(
            f"tpcc-{TERMINALS}",
            f"the same transactions as a Lua script of sysbench, {WAREHOUSES} warehouses, {TERMINALS} clients",
            (_cpu(0.35), _FOR_INFORMATION),
            lambda: load.measure(wanted, placement),
            lambda: peers.sysbench_tpcc_run(endpoint, TERMINALS, bench.seconds, WAREHOUSES, placement),
        )
        yield [row]


@contextmanager
def _tpcc_load(bench: Bench, placement: Placement) -> Iterator[list[Row]]:
    def ours() -> Sample:
        with servers.mariadb(bench, placement, servers.SPACIOUS) as started:
            records = list[dict[str, Any]]()

            def execute(phases: list[str]) -> Outcome:
                outcome, records_of_phases = load.execute(_tpcc_plan(started, phases, loading_clients()), placement)
                records.extend(records_of_phases)
                return outcome

            loading = servers.with_server_cpu(started, WAREHOUSES, lambda: execute(load.PREPARE))
            # Loading ends with the same counts and conditions; sysbench's has none.
            checking = servers.with_server_cpu(started, WAREHOUSES, lambda: execute(load.CHECK))
            adding_us = servers.cpu_of_both_us(loading) - servers.cpu_of_both_us(checking)
            return replace(
                loading, details=loading.details | {"adding_s": load.adding_s(records), "adding_cpu_us": adding_us}
            )

    def theirs() -> Sample:
        with servers.mariadb(bench, placement, servers.SPACIOUS) as started:
            endpoint, threads = started.system.endpoint, f"--threads={loading_clients()}"

            def all_of_it() -> Outcome:
                commands = (("tables",), ("prepare", threads), ("indexes",))
                parts = [
                    peers.sysbench_tpcc(endpoint, name, WAREHOUSES, placement, *options) for name, *options in commands
                ]
                return added(parts)

            sample = servers.with_server_cpu(started, WAREHOUSES, all_of_it)
            return replace(
                sample,
                details=sample.details | {"adding_s": sample.seconds, "adding_cpu_us": servers.cpu_of_both_us(sample)},
            )

    adding = Measure("time to add rows and indexes", "s", lambda sample: sample.details["adding_s"], {SAME: 0.50})
    of_it = Measure("CPU of that per warehouse", "µs", lambda sample: sample.details["adding_cpu_us"], {SAME: 0.50})
    measures = (adding, of_it, *_load_measures({}, per="warehouse"))
    yield [Row("tpcc-load", f"bulk inserts of sysbench, {WAREHOUSES} warehouses", measures, ours, theirs)]


@contextmanager
def _oltp(bench: Bench, placement: Placement) -> Iterator[list[Row]]:
    with servers.mariadb(bench, placement) as started:
        endpoint, rows, clients = started.system.endpoint, bench.rows, 16
        of = {"workload": "oltp", "options": {"set": "read_write"}, "clients": clients}
        load.execute(load.plan(started.store, rows, load.PREPARE, **of), placement)
        peers.sysbench(endpoint, "prepare", rows, placement, script="oltp_read_write")
        wanted = load.plan(started.store, rows, load.MEASURE, **of, duration_s=bench.seconds)
        yield [
            Row(
                "oltp-16",
                f"sysbench oltp_read_write, {clients} clients",
                (Measure("client CPU per transaction", "µs", lambda s: s.cpu_us, {SAME: 0.50}), _FOR_INFORMATION),
                lambda: load.measure(wanted, placement),
                lambda: peers.sysbench_oltp(endpoint, clients, bench.seconds, rows, placement),
            )
        ]


@contextmanager
def _memory(bench: Bench, placement: Placement) -> Iterator[list[Row]]:
    with servers.null_server(bench, placement, "redis") as store:

        def peak(clients: int) -> Callable[[], Sample]:
            wanted = load.plan(store, bench.rows, load.MEASURE, clients=clients, duration_s=min(bench.seconds, 3))
            return lambda: _peak_memory(wanted, placement)

        per_client = Measure(
            "peak resident memory",
            "KiB",
            lambda sample: sample.details["peak_resident_kib"],
            {SAME: 24.0},
            combine=lambda many, few: (many - few) / (MANY - FEW),
            figure_unit="KiB a client",
        )
        yield [Row(f"memory-{MANY}", f"itself with {FEW} clients", (per_client,), peak(MANY), peak(FEW))]


def _memory_of_64(bench: Bench, placement: Placement, started: Started) -> Row:
    wanted = load.plan(started.store, bench.rows, load.MEASURE, clients=64, duration_s=min(bench.seconds, 3))
    memory = Measure(
        "peak resident memory",
        "MB",
        lambda s: s.details["peak_resident_kib"] * 1024 / 1e6,
        {SAME: 100.0},
        figure_unit="MB",
    )
    return Row("memory-64", "a limit alone, 64 clients", (memory,), lambda: _peak_memory(wanted, placement))


def _peak_memory(wanted: dict[str, object], placement: Placement) -> Sample:
    peaks_kib: list[int] = []
    outcome, _ = load.execute(wanted, placement, lambda pid: _follow_peak(pid, peaks_kib))
    # The kernel's peak only rises, but the first reading may be of this Python, before the program took its place.
    return outcome.sample(1, outcome.wall_s, peak_resident_kib=float(peaks_kib[-1]))


def _follow_peak(pid: int, peaks_kib: list[int]) -> None:
    status = Path(f"/proc/{pid}/status")
    while peak_lines := [line for line in status.read_text().splitlines() if line.startswith("VmHWM:")]:
        peaks_kib.append(int(peak_lines[0].split()[1]))
        time.sleep(0.05)


@contextmanager
def _send_lag(bench: Bench, placement: Placement) -> Iterator[list[Row]]:
    with servers.null_server(bench, placement, "redis") as store:
        segment = {"seconds": 1, "from_per_s": OPEN_RATE, "to_per_s": OPEN_RATE}
        arrivals = {"kind": "constant", "segments": [segment]}
        open_loop = {"clients": 64, "threads": 1, "arrivals": arrivals, "duration_s": bench.seconds}
        wanted = load.plan(store, bench.rows, load.MEASURE, **open_loop)
        lag = Measure(
            "send lag, 99th percentile",
            "µs",
            lambda sample: sample.details["send_lag_p99_us"],
            {APART: 200.0},
            combine=lambda ours, _: ours,
            figure_unit="µs",
        )
        program = bench.folder / "bare-timer"
        yield [
            Row(
                "send-lag",
                f"a bare loop that waits for {OPEN_RATE:,} points in time a second",
                (lag,),
                lambda: load.measure(wanted, placement),
                lambda: peers.bare_timer(program, OPEN_RATE, bench.seconds, placement),
            )
        ]


EVERYWHERE, HERE = ("same", "apart", "free"), ("same",)
GROUPS: tuple[tuple[Group, tuple[str, ...], tuple[str, ...]], ...] = (
    (
        _mariadb,
        EVERYWHERE,
        (
            *("sysbench-1", "sysbench-4", "sysbench-16", "sysbench-64", "sysbench-256", "bare-mysql", "memory-64"),
            *engines.names("mysql"),
        ),
    ),
    (_oltp, EVERYWHERE, ("oltp-16",)),
    (
        _postgresql,
        EVERYWHERE,
        (
            *("pgbench-64", "pgbench-256", "pgbench-unix-64", "pgbench-unix-256"),
            "bare-postgres",
            *(f"{program}-256" for _, program, _ in _LOOPS),
            *(f"{program}-256-of-pgbench" for _, program, _ in _LOOPS),
        ),
    ),
    (_null, HERE, _NULL),
    (_ferretdb, HERE, ("pymongo-1",)),
    (_redis, EVERYWHERE, ("redis-benchmark", "redis-benchmark-p16", "bare-redis", *engines.names("redis"))),
    (_memcached, EVERYWHERE, ("bare-memcached", *engines.names("memcached"))),
    (published.ycsb, EVERYWHERE, published.MIX_NAMES),
    (published.etc, EVERYWHERE, (published.ETC_NAME,)),
    (_lmdb, HERE, ("lmdb-renew", "lmdb-begin", "lmdb-touch", "lmdb-work", "lmdb-held")),
    (_load_on("load", servers.ROOMY, {SAME: 0.33}, "load-alone"), EVERYWHERE, ("load", "load-alone")),
    (_load_on("load-defaults", servers.DEFAULTS, {}), EVERYWHERE, ("load-defaults",)),
    (_tpcc, EVERYWHERE, (f"tpcc-{TERMINALS}",)),
    (_tpcc_load, EVERYWHERE, ("tpcc-load",)),
    (_memory, HERE, (f"memory-{MANY}",)),
    (_send_lag, (APART,), ("send-lag",)),
)
"""Each group with the placements it is run in and the names of its rows."""
