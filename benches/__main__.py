"""Runs the pairs in alternation and prints the table; environment variables choose what (benches/README.md)."""

import os
import resource
import sys
import time
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

from benches import peers, table
from benches.groups import GROUPS
from benches.load import NotSupported
from benches.measured import Placement, Sample, placements
from benches.rows import Line, Row, lines_of
from benches.servers import Bench
from dbdyno.conduct.load_client import find_load_client, load_client_version
from dbdyno.errors import RunFailed, UserError
from dbdyno.systems.running.guard import Guard

FOLDER = Path("target/bench").absolute()
QUIET_LOAD = 0.5
DESCRIPTORS = 10_500
"""Files the null server, and so everything started here, may have open: one for each of 10,000 clients, and some."""


def setting(name: str, default: int) -> int:
    """Return a whole number above 0 from the environment; raises UserError if it is none."""
    text = os.environ.get(name) or str(default)
    if not text.isdecimal() or int(text) == 0:
        raise UserError(f"{name}={text}: give a whole number above 0")
    return int(text)


def chosen(name: str, known: list[str]) -> list[str]:
    """Return those of `known` that an environment variable names (wildcards allowed; unset: all); else UserError."""
    patterns = [pattern.strip() for pattern in (os.environ.get(name) or "*").split(",")]
    for pattern in patterns:
        if not any(fnmatch(candidate, pattern) for candidate in known):
            raise UserError(f"{name}: there is no '{pattern}'. There are {', '.join(known)}.")
    return [candidate for candidate in known if any(fnmatch(candidate, pattern) for pattern in patterns)]


def raise_descriptors() -> None:
    """Raise the limit of open files as far as needed and allowed; dbdyno-load says if that is too low."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(DESCRIPTORS, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))


def warn_of_company() -> None:
    """Say if other work is going on: it moves the unpinned rows most."""
    if (load_average := os.getloadavg()[0]) > QUIET_LOAD:
        print(f"this machine is not quiet (load average {load_average:.1f}): do not trust single figures", flush=True)


def pairs_of(row: Row, count: int) -> Iterator[tuple[Sample, Sample | None]]:
    """Run the two sides in alternation."""
    for _ in range(count):
        yield row.ours(), row.theirs() if row.theirs else None


def lines_for(row: Row, placement: Placement, pairs: int) -> list[Line]:
    """Run a row; what cannot be run says so in the table and does not end the others."""
    try:
        return lines_of(row, placement.name, list(pairs_of(row, pairs)))
    except NotSupported as reason:
        return lines_of(row, placement.name, [], f"not supported yet: {reason}")
    except (RunFailed, UserError) as reason:
        return lines_of(row, placement.name, [], f"failed: {reason}")


def run_all(bench: Bench, rows: list[str], wanted: list[Placement], pairs: int) -> Iterator[Line]:
    """Run these rows in these placements, yielding their lines as they come; without its server a group is left out."""
    for group, where, names in GROUPS:
        for placement in wanted:
            if placement.name not in where or not set(names) & set(rows):
                continue
            try:
                with group(bench, placement) as offered:
                    for row in (row for row in offered if row.name in rows):
                        yield from lines_for(row, placement, pairs)
            except (RunFailed, UserError) as reason:
                left_out = ", ".join(name for name in names if name in rows)
                print(f"{left_out}  {placement.name}  left out: {reason}", flush=True)


def main() -> int:
    """Run what was asked; the exit status is 1 if a limit is not met."""
    rows = chosen("BENCH_ROWS", [name for _, _, names in GROUPS for name in names])
    there = placements()
    wanted = [there[name] for name in chosen("BENCH_PLACEMENTS", list(there))]
    pairs, seconds = setting("BENCH_PAIRS", 5), setting("BENCH_SECONDS", 5)
    table_rows, load_rows = setting("BENCH_TABLE_ROWS", 100_000), setting("BENCH_LOAD_ROWS", 1_000_000)
    if str(table_rows).strip("0") != "1" or table_rows < 1000:
        raise UserError(f"BENCH_TABLE_ROWS={table_rows}: a power of ten from 1000 on, for keys of one length")
    peers.check_tools()
    peers.build(FOLDER)
    raise_descriptors()
    version = load_client_version(find_load_client())
    print(f"{version}, {pairs} pairs of {seconds} s, {table_rows} rows", flush=True)
    warn_of_company()
    settings = {"pairs": pairs, "seconds": seconds, "rows": table_rows, "load_rows": load_rows, "dbdyno_load": version}
    settings |= {"started_unix_s": time.time(), "load_average": os.getloadavg()}
    lines: list[Line] = []
    try:
        with Guard() as guard:
            for line in run_all(Bench(guard, FOLDER, seconds, table_rows, load_rows), rows, wanted, pairs):
                print(table.brief(line), flush=True)
                lines.append(line)
    finally:
        # Measurements before an interruption are kept.
        table.save(FOLDER, lines, settings)
    print(f"\n{table.markdown(lines)}\nEvery pair is in {FOLDER / 'results.json'}; see benches/README.md.")
    return int(any(line.limit is not None and not line.met for line in lines))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (UserError, RunFailed) as error:
        sys.exit(f"make bench: {error}")
    except KeyboardInterrupt:
        sys.exit("make bench: interrupted; what was done is in target/bench")
