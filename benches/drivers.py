"""The load client against the field's Rust crates, on the same servers: `python -m benches.drivers [CRATE …]`.

Each crate gets random rows of the same table by their keys, on one thread, through as many clients as dbdyno-load, in
pairs that alternate, all on one processor. The crates' programs are a separate workspace (`benches/crates`).
"""

import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from statistics import median

from benches import load, servers
from benches.__main__ import chosen, raise_descriptors, setting, warn_of_company
from benches.measured import Placement, Sample, placements, run_well
from benches.servers import Bench, Started
from dbdyno.errors import RunFailed, UserError
from dbdyno.systems.running.guard import Guard

SOURCES = Path(__file__).parent / "crates"
PROGRAMS = Path("target/crates").absolute()
CLIENTS = (1, 64)
BUILD = f"cargo build --release --manifest-path {SOURCES / 'Cargo.toml'} --target-dir {PROGRAMS}"


@contextmanager
def _mariadb(bench: Bench, placement: Placement) -> Iterator[Started]:
    with servers.mariadb(bench, placement) as started:
        servers.fill(started, bench.rows, placement)
        yield started


@contextmanager
def _postgresql(bench: Bench, placement: Placement) -> Iterator[Started]:
    with servers.postgresql(bench, placement) as started:
        yield started.by_tcp()


@contextmanager
def _redis(bench: Bench, placement: Placement) -> Iterator[Started]:
    with servers.redis_server(bench, placement) as (started, _):
        yield started


CRATES: dict[str, Callable[[Bench, Placement], AbstractContextManager[Started]]] = {
    "mysql_async": _mariadb,
    "tokio_postgres": _postgresql,
    "redis": _redis,
    "memcache": servers.memcached,
    "mongodb": servers.ferretdb,
    "scylla": servers.cassandra,
}
"""Each program, by the name of its crate, and the server that it is measured on."""


def crate_gets(program: str, started: Started, clients: int, bench: Bench, placement: Placement) -> Sample:
    """Run the gets of one crate; connecting and preparing are not in its CPU."""
    endpoint, rows = started.system.endpoint, rows_of(program, bench)
    where = (f"{endpoint.host}:{endpoint.port}", endpoint.user or "-", endpoint.database or "-")
    numbers = map(str, (clients, rows, bench.seconds))
    said = run_well([PROGRAMS / "release" / program, *where, *numbers], placement.client_cpus).output.split()
    return Sample(int(said[0]), float(said[1]), float(said[2]), 0.0)


def own_gets(program: str, started: Started, clients: int, bench: Bench, placement: Placement) -> Sample:
    """Run dbdyno-load's on one thread, every row verified; all of its process is in its CPU."""
    keys = {"clients": clients, "threads": 1, "duration_s": bench.seconds}
    return load.measure(load.plan(started.store, rows_of(program, bench), load.MEASURE, **keys), placement)


def rows_of(program: str, bench: Bench) -> int:
    """Return how many rows there are: FerretDB looks at all of them for each get."""
    return servers.FERRETDB_ROWS if program == "mongodb" else bench.rows


def version_of(program: str) -> str:
    """Return which version of a crate was built."""
    name = program.replace("_", "-") if program == "tokio_postgres" else program
    locked = (SOURCES / "Cargo.lock").read_text()
    version = re.search(rf'name = "{name}"\nversion = "(.*)"', locked)
    return f"{name} {version[1] if version else '?'}"


def lines_of(program: str, bench: Bench, placement: Placement, pairs: int) -> Iterator[str]:
    """Run the pairs of one crate, yielding a line of the table for each number of clients."""
    with CRATES[program](bench, placement) as started:
        for clients in CLIENTS:
            pair_samples = [
                (
                    own_gets(program, started, clients, bench, placement),
                    crate_gets(program, started, clients, bench, placement),
                )
                for _ in range(pairs)
            ]
            ours, theirs = ([sample.cpu_us for sample in side] for side in zip(*pair_samples, strict=True))
            ratios = sorted(mine / other for mine, other in zip(ours, theirs, strict=True))
            least, most = (
                min(side.operations for pair in pair_samples for side in pair),
                sum(b.operations for _, b in pair_samples),
            )
            print(f"{program} {clients}: {least:,} gets in the shortest run, {most:,} of the crate", file=sys.stderr)
            yield (
                f"| {started.system.name} | {version_of(program)} | {clients} | {median(ours):.2f} µs "
                f"| {median(theirs):.2f} µs | {median(ratios):.2f} ({ratios[0]:.2f} – {ratios[-1]:.2f}) |"
            )


def main(wanted: list[str]) -> int:
    """Print the table for these crates, or all; one that cannot be measured says why."""
    if unknown := [name for name in wanted if name not in CRATES]:
        raise UserError(f"there is no '{unknown[0]}'. There are {', '.join(CRATES)}.")
    lacking = [name for name in wanted or CRATES if not (PROGRAMS / "release" / name).exists()]
    if lacking:
        raise UserError(f"{lacking[0]} is not built:\n    {BUILD}")
    (placement,) = (placements()[name] for name in chosen("BENCH_PLACEMENTS", list(placements()))[:1])
    pairs, seconds, rows = setting("BENCH_PAIRS", 5), setting("BENCH_SECONDS", 3), setting("BENCH_TABLE_ROWS", 10_000)
    raise_descriptors()
    warn_of_company()
    print("| server | crate | clients | dbdyno-load | the crate | ratio, median (min – max) |")
    print("|---|---|---:|---:|---:|---:|")
    with Guard() as guard, tempfile.TemporaryDirectory() as folder:
        bench = Bench(guard, Path(folder), seconds, rows, rows)
        for program in wanted or CRATES:
            try:
                for line in lines_of(program, bench, placement, pairs):
                    print(line, flush=True)
            except (RunFailed, UserError, load.NotSupported) as reason:
                print(f"{program}: left out: {reason}", file=sys.stderr, flush=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (UserError, RunFailed) as error:
        sys.exit(f"benches.drivers: {error}")
