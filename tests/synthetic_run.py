"""Writes run folders as docs/run-folder.md and docs/contract.md have them, with made-up but consistent figures.

For tests of everything that reads a run, and for looking at a report of any size:
`python -m tests.synthetic_run FOLDER --seconds 600 --clients 1,2,4,8`.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from dbdyno.results.observations import close_observations
from dbdyno.results.write import FORMAT
from dbdyno.stats.histogram import bucket_bounds, bucket_index
from dbdyno.verdict.judge import judge_folder

BEGAN_UNIX_S = 1_795_206_600.0
SLOW_START_S = 41
"""How long a `slow-start` does half, the warm-up's second with it."""
OPERATIONS = (
    {"name": "read_player", "operation": "get", "table": "player", "share": 0.25},
    {"name": "update_player", "operation": "update", "table": "player", "share": 0.5},
    {"name": "find_account", "operation": "find", "table": "account", "share": 0.25},
)


@dataclass(frozen=True)
class System:
    """One made-up store: it saturates at `peak_per_s` with a service time of `base_us` at one client."""

    system: str
    durability: str
    reason: str
    base_us: float
    peak_per_s: float
    servers: tuple[tuple[str, str], ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    label: str = ""
    attached: bool = False

    @property
    def name(self) -> str:
        return self.label or self.system


SYSTEMS = (
    System("sqlite", "D1", "journal_mode=WAL, synchronous=NORMAL", 55, 21_000),
    System("lmdb", "D1", "sync=no-meta-sync", 21, 60_000),
    System("mariadb", "D2", "innodb_flush_log_at_trx_commit=1", 900, 9_000, (("mariadb", "10.11.14"),)),
    System(
        "cache-aside(memcached, mariadb)",
        "D2",
        "the store behind the cache: innodb_flush_log_at_trx_commit=1",
        980,
        7_500,
        (("memcached", "1.6.18"), ("mariadb", "10.11.14")),
    ),
    System("redis", "D0", "save '', appendonly no", 95, 32_000, (("redis", "7.0.15"),), (("io-threads", "2"),)),
)


@dataclass(frozen=True)
class Cell:
    """One trial to write; `rate` is its open loop's.

    `fault`: `outage`, `server-died`, `mismatch`, `killed`, `stall` (of seconds), `hiccups` (stalls of 20 ms ten times a
    second, and one of 212 ms), `slow-start` (whose warm-up is to be found), `client-limited`, `not-reached` or none.
    """

    name: str
    system: System
    clients: int
    repeat: int
    seconds: int
    warmup: int
    fault: str | None
    rate: int | None = None


def write_run(
    folder: Path,
    systems: tuple[System, ...] = SYSTEMS,
    clients: tuple[int, ...] = (1, 2, 4, 8, 16),
    seconds: int = 2,
    repeats: int = 1,
    faults: dict[tuple[str, int], str] | None = None,
    rates: tuple[int | None, ...] = (None,),
) -> Path:
    """Write a run of systems × clients × repeats × rates; `faults` by (system's name, clients). Returns the folder."""
    folder.mkdir(parents=True)
    plan = enumerate(product(systems, range(1, repeats + 1), rates, clients), 1)
    cells = [
        Cell(
            f"{number:03}-{system.system.split('(')[0]}-game-c{count}" + (f"-r{rate}" if rate else ""),
            system,
            count,
            repeat,
            seconds,
            1,
            (faults or {}).get((system.name, count)),
            rate,
        )
        for number, (system, repeat, rate, count) in plan
    ]
    failed = any(cell.fault in ("server-died", "mismatch") for cell in cells)
    state = "running" if any(cell.fault == "killed" for cell in cells) else "failed" if failed else "complete"
    _write_about(folder, cells, state)
    for number, system in enumerate(systems, 1):
        _write_preparation(folder / "preparations" / f"{number:02}-{system.system.split('(')[0]}", system)
    for number, cell in enumerate(cells):
        if cell.fault != "not-reached":
            _write_trial(folder / "trials" / cell.name, cell, BEGAN_UNIX_S + number * (seconds + 3), number)
    return folder


def _write_about(folder: Path, cells: list[Cell], state: str) -> None:
    about = {
        "format": FORMAT,
        "dbdyno": "0.1.0",
        "run": folder.name,
        "experiment": "quickstart",
        "question": "Which of these stores serves a small game's request fastest, and how does each scale?",
        "look_for": "A cache in front of the database only pays when what it saves on reads is more than its writes.",
        "command": "dbdyno run quickstart",
        "started_unix_s": BEGAN_UNIX_S,
        "ended_unix_s": None if state == "running" else BEGAN_UNIX_S + 100,
        "state": state,
        "reason": None,
        "trials": [cell.name for cell in cells],
        "skipped": [{"system": "valkey", "reason": "valkey-server is not installed: apt install valkey"}],
    }
    environment = {
        "host": "bench-1",
        "kernel": "6.1.0-28-amd64",
        "cpu_model": "AMD EPYC 7B13",
        "cpus": 2,
        "memory_bytes": 25_000_000_000,
        "python": "3.11.2",
        "warnings": ["the frequency governor is 'powersave': use 'performance'"],
    }
    (folder / "run.json").write_text(json.dumps(about))
    (folder / "environment.json").write_text(json.dumps(environment))


def _write_preparation(folder: Path, system: System) -> None:
    folder.mkdir(parents=True)
    (folder / "preparation.json").write_text(json.dumps({"system": system.system, "settings": dict(system.settings)}))
    loaded = {"record": "phase", "phase": "load", "state": "end", "at_unix_s": BEGAN_UNIX_S, "seconds": 0.8}
    _write_lines(folder / "records.jsonl", [loaded | {"rows": 40_000, "rows_per_s": 50_000}])


def _write_lines(path: Path, lines: list[dict]) -> None:
    path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))


def _write_trial(folder: Path, cell: Cell, began_unix_s: float, seed: int) -> None:
    folder.mkdir(parents=True)
    intervals = _intervals(cell, np.random.default_rng(seed))
    records = [
        _hello(cell),
        {"record": "phase", "phase": "run", "state": "begin", "at_unix_s": began_unix_s},
        *intervals,
    ]
    if cell.fault in ("outage", "server-died"):
        message = "Lost connection to server during query: Connection refused (os error 111)"
        records.append(
            {"record": "error", "kind": "connection", "operation": "update_player", "client": 0, "at_s": 1.2}
            | {"message": message}
        )
    if cell.fault == "mismatch":
        records.append(
            {"record": "mismatch", "operation": "read_player", "key": 17, "column": "stats", "at_s": 1.5}
            | {"expected": "17:0", "found": "<b>18</b>:0"}
        )
    if cell.fault != "killed":
        records += _ending(cell, intervals, began_unix_s)
    _write_lines(folder / "records.jsonl", records)
    if cell.fault == "killed":
        with (folder / "records.jsonl").open("a") as file:
            file.write('{"record":"interval","second":')
    samples = _observations(cell, intervals, began_unix_s)
    _write_lines(folder / "observations.jsonl", samples)
    closed = {} if cell.fault == "killed" else {"usage": _usage(cell, samples)}
    if closed:
        close_observations(folder)
    (folder / "trial.json").write_text(json.dumps(_trial_json(cell, began_unix_s) | closed))


def _hello(cell: Cell) -> dict:
    operations = [{key: operation[key] for key in ("name", "operation", "table")} for operation in OPERATIONS]
    about = {"contract": 1, "program": "dbdyno-load", "version": "0.1.0", "profile": "release", "pid": 4711}
    return {"record": "hello"} | about | {"transaction": "game", "operations": operations, "threads": 2}


def _intervals(cell: Cell, rng: np.random.Generator) -> list[dict]:
    """Seconds of a store that saturates: rate = clients / (base + clients / peak), and clients = rate × mean."""
    mean_s = cell.system.base_us * 1e-6 + cell.clients / cell.system.peak_per_s
    shapes = [_Shape(mean_s * operation["share"] * 1e9, 0.28) for operation in OPERATIONS]
    return [_interval(cell, rng, second, shapes) for second in range(cell.warmup + cell.seconds)]


def _interval(cell: Cell, rng: np.random.Generator, second: int, shapes: list[_Shape]) -> dict:
    slow = 1 + 0.06 * abs(rng.standard_normal()) + (second < cell.warmup) * 0.4
    slow += (cell.fault == "slow-start" and second < SLOW_START_S) * 1.0
    whole = _Shape.joined(shapes)
    rate = cell.clients / (whole.mean_ns * slow * 1e-9)
    measured = second - cell.warmup
    down = cell.fault in ("outage", "server-died") and cell.seconds * 0.3 <= measured < cell.seconds * 0.5
    down |= cell.fault == "server-died" and measured >= cell.seconds * 0.3
    down |= cell.fault == "stall" and measured in (3, 4)
    completed = 0 if down else max(1, round(rate))
    completed = min(completed, cell.rate or completed)
    late = _late(cell, second, rate)
    broken = down and cell.fault != "stall"
    wrong = int(cell.fault == "mismatch" and measured == 0)
    hits = round(0.7 * completed)
    cpu_s = 1.9 if cell.fault == "client-limited" else round(min(0.85, completed * 2.5e-5), 6)
    return {
        "record": "interval",
        "second": second,
        "warmup": second < cell.warmup,
        "seconds": 1.0,
        "connected": 0 if broken else cell.clients,
        "transactions": {"completed": completed, "failed": 0, **_times(cell, rng, whole, completed, slow, late)}
        | ({"scheduled": cell.rate} if cell.rate else {}),
        "operations": {
            operation["name"]: {"completed": completed, "failed": 0, **_times(cell, rng, shape, completed, slow, late)}
            for operation, shape in zip(OPERATIONS, shapes, strict=True)
        },
        "errors": {"connect": 4 * cell.clients} if broken else {"mismatch": 1} if wrong else {},
        "reads_verified": 2 * completed,
        "mismatches": wrong,
        "client_cpu_s": cpu_s,
        "load_threads": {"cpu_s": [round(share * cpu_s, 6) for share in _shares(cell)], "run_queue_s": [0.01, 0.02]},
        **({"gaps_ns": _gaps_ns(second)} if cell.fault == "hiccups" else {}),
    } | (
        {"counters": {"cache_hits": hits, "cache_misses": completed - hits}}
        if cell.system.system.startswith("cache")
        else {}
    )


def _gaps_ns(second: int) -> list[list[int]]:
    """Return the gaps that end in a second: one at the end of the second 1 lasts into the next."""
    begins_ms = [second * 1000 + 100 * tenth for tenth in range(10)]
    long = [(1990, 212)] if second == 2 else []
    gaps_ms = [*long, *((begin, 20) for begin in begins_ms[3 if long else 0 :])]
    return [[begin * 1_000_000, length * 1_000_000] for begin, length in gaps_ms]


def _late(cell: Cell, second: int, able_per_s: float) -> float:
    """How many times its service time an open loop's transaction waits: a little near the peak, ever more above it."""
    share = (cell.rate or 0) / able_per_s
    return 0.3 * share**4 if share < 1 else (share - 1) * second * able_per_s / cell.clients


def _times(
    cell: Cell, rng: np.random.Generator, shape: _Shape, completed: int, slow: float, late: float
) -> dict[str, dict]:
    times = {"service_time": shape.histogram(rng, completed, slow)}
    if cell.rate:
        times["response_time"] = shape.histogram(rng, completed, slow * (1 + late))
        times["send_lag"] = shape.histogram(rng, completed, slow * (0.05 + late))
    return times


class _Shape:
    """A log-normal distribution of service times, as expected shares of the contract's buckets."""

    def __init__(self, mean_ns: float, sigma: float) -> None:
        values = np.random.default_rng(0).lognormal(np.log(mean_ns) - sigma**2 / 2, sigma, 40_000)
        indices, counts = np.unique([bucket_index(int(value)) for value in values], return_counts=True)
        self.indices, self.shares = indices, counts / counts.sum()
        self.middles = np.array([sum(bucket_bounds(int(index))) - 1 for index in indices], np.int64)
        self.mean_ns, self.sigma = float((self.shares * self.middles).sum()), sigma

    @staticmethod
    def joined(parts: list[_Shape]) -> _Shape:
        """The shape of a transaction made of these operations in turn."""
        key = tuple(part.mean_ns for part in parts)
        if key not in _JOINED:
            _JOINED[key] = _Shape(sum(key), parts[0].sigma * 0.8)
        return _JOINED[key]

    def histogram(self, rng: np.random.Generator, count: int, slow: float) -> dict:
        """`count` samples, each `slow` times as long; slowing shifts whole buckets, as buckets are logarithmic."""
        drawn = rng.multinomial(count, self.shares)
        some = np.flatnonzero(drawn)
        if not len(some):
            return {"count": 0, "sum_ns": 0, "min_ns": 0, "max_ns": 0, "buckets": []}
        indices = np.array([bucket_index(int(value * slow)) for value in self.middles])[some]
        indices, where = np.unique(indices, return_inverse=True)
        counts = np.bincount(where, drawn[some]).astype(int)
        middles = np.array([bucket_bounds(int(index))[0] for index in indices])
        return {
            "count": int(counts.sum()),
            "sum_ns": int((counts * middles).sum()),
            "min_ns": int(middles[0]),
            "max_ns": int(middles[-1]),
            "buckets": np.stack([indices, counts], axis=1).ravel().tolist(),
        }


_JOINED: dict[tuple[float, ...], _Shape] = {}


def _ending(cell: Cell, intervals: list[dict], began_unix_s: float) -> list[dict]:
    completed = sum(interval["transactions"]["completed"] for interval in intervals)
    scheduled = sum(interval["transactions"].get("scheduled", 0) for interval in intervals) or completed + cell.clients
    left = scheduled - completed
    wrong = sum(interval["mismatches"] for interval in intervals)
    seconds = float(len(intervals))
    failed = "the server was killed (signal 9)" if cell.fault == "server-died" else None
    return [
        {"record": "phase", "phase": "run", "state": "end", "at_unix_s": began_unix_s + seconds, "seconds": seconds},
        {
            "record": "total",
            "transactions": {
                "scheduled": scheduled,
                "completed": completed,
                "failed": 0,
                "unfinished": left,
                **({"never_begun": max(0, left - cell.clients), "late": left} if cell.rate else {}),
            },
            "operations": {operation["name"]: {"completed": completed, "failed": 0} for operation in OPERATIONS},
            "reads_verified": 2 * completed,
            "mismatches": wrong,
            "seconds": seconds,
            "in_flight_mean": cell.clients * 0.995,
        },
        {"record": "check", "name": "rows of player", "expected": 20_000, "found": 20_000, "ok": True, "note": None},
        {"record": "end", "status": "failed" if failed else "complete", "reason": failed},
    ]


def _observations(cell: Cell, intervals: list[dict], began_unix_s: float) -> list[dict]:
    """A sample a second of a host of two processors, on which nothing runs but the client and the servers."""
    names = ["client", *(name for name, _ in cell.system.servers)]
    used_s, done = dict.fromkeys(names, 0.5), 0
    samples = []
    for second in range(len(intervals) + 1):
        sample = {"at_unix_s": began_unix_s + second}
        for number, name in enumerate(names):
            sample |= _process(name, used_s[name], 9_400_320 * (1 + 10 * number))
        for server in names[1:]:
            sample |= {f"store.{server}.commands_total": done}
            sample |= _waits(server, cell, intervals[second - 1] if second else None)
        samples.append(sample | _host(sum(used_s.values()), second, done))
        if second < len(intervals):
            completed = intervals[second]["transactions"]["completed"]
            done += completed
            for number, name in enumerate(names):
                used_s[name] = round(used_s[name] + min(0.95, completed * (6e-5 if number else 2.6e-5)), 6)
    return samples


def _host(used_s: float, second: int, done: int) -> dict:
    return {
        "host.cpu_user_s_total": 100 + used_s,
        "host.cpu_idle_s_total": 5000 + 2 * second - used_s,
        "host.memory_available_bytes": 8 << 30,
        "pressure.cpu_some_s_total": 0.02 * second,
        "network.sent_bytes_total": 300 * done,
    }


def _process(name: str, used_s: float, resident_bytes: int) -> dict:
    seen = {"cpu_user_s_total": 0.75 * used_s, "cpu_system_s_total": 0.25 * used_s, "run_queue_s_total": 0.1 * used_s}
    return {
        f"process.{name}.{key}": value
        for key, value in {**seen, "resident_bytes": resident_bytes, "threads": 3}.items()
    }


def _waits(server: str, cell: Cell, interval: dict | None) -> dict:
    """Return where its operations were in the second before: at work, on the way, or queued for a full client."""
    if interval is None:
        return {}
    cpu = min(0.95, interval["transactions"]["completed"] * 6e-5)
    outside = max(0.0, cell.clients - cpu)
    in_client = outside if cell.fault == "client-limited" else 0.0
    queued = {"unread_requests": 0.0, "unread_answers": in_client, "requests_in_transit": outside - in_client}
    queued |= {"answers_in_transit": 0.0, "whole_connections": cell.clients}
    waits = {f"waits.{server}.cpu": cpu, f"waits.{server}.client": outside}
    return waits | {f"queue.{server}.{name}": value for name, value in queued.items()}


def _shares(cell: Cell) -> tuple[float, float]:
    """The share of each load thread in the load client's CPU."""
    return (0.5, 0.5) if cell.fault == "client-limited" else (0.6, 0.4)


def _usage(cell: Cell, samples: list[dict]) -> list[dict]:
    first, last = samples[cell.warmup], samples[-1]
    seconds = last["at_unix_s"] - first["at_unix_s"]
    used = []
    for name in ("client", *(name for name, _ in cell.system.servers)):
        keys = [f"process.{name}.cpu_{kind}_s_total" for kind in ("user", "system")]
        cores = sum(last[key] - first[key] for key in keys) / seconds
        used.append({"process": name, "cores": cores, "resident_bytes": last[f"process.{name}.resident_bytes"]})
    return used


def _trial_json(cell: Cell, began_unix_s: float) -> dict:
    system = cell.system
    died = cell.fault == "server-died"
    state = "running" if cell.fault == "killed" else "failed" if died or cell.fault == "mismatch" else "complete"
    reason = "mariadb was killed (signal 9) 1 s into the run" if died else None
    effective = {"innodb_buffer_pool_size": "134217728", "innodb_flush_log_at_trx_commit": "1", "log_bin": "OFF"}
    return {
        "trial": cell.name,
        "preparation": f"{SYSTEMS.index(system) + 1:02}-{system.system.split('(')[0]}" if system in SYSTEMS else "01-x",
        "system": system.system,
        "label": system.name,
        "settings": dict(system.settings),
        "servers": [{"name": n, "version": v, "effective_settings": effective} for n, v in system.servers],
        "embedded": not system.servers and not system.attached,
        "attached": system.attached,
        "durability": {"class": system.durability, "reason": system.reason},
        "workload": "game",
        "options": {},
        "rows": 20_000,
        "clients": cell.clients,
        "pipeline": 1,
        "rate": {"arrivals": "constant", "per_s": cell.rate, "words": f"{cell.rate:,}/s"} if cell.rate else None,
        "client_ceiling_per_s": 1.1 / (system.base_us * 1e-6 / cell.clients + 1 / system.peak_per_s)
        if cell.fault == "client-limited"
        else None,
        "client_ceiling_note": None,
        "repeat": cell.repeat,
        "seconds": cell.seconds,
        "warmup_seconds": cell.warmup,
        "warmup": "auto" if cell.fault == "slow-start" else None,
        "client_cpus": [0],
        "server_cpus": [1],
        "memory_limit_bytes": None,
        "started_unix_s": began_unix_s,
        "ended_unix_s": None if cell.fault == "killed" else began_unix_s + cell.seconds + 1,
        "state": state,
        "reason": "an answer was wrong: see its first mismatches" if cell.fault == "mismatch" else reason,
        "exit_status": None if cell.fault == "killed" else 0,
        "server_counters": {
            name: {"before": {"Com_stmt_execute": 10, "Uptime": 5}, "after": {"Com_stmt_execute": 30_010, "Uptime": 9}}
            for name, _ in system.servers
        },
        "python_cpu_s": 0.08,
        "observer_cpu_s": round(0.006 * (cell.seconds + cell.warmup), 3),
        "not_seen": [],
    }


def main() -> None:
    """Write one run folder as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--clients", default="1,2,4,8,16")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--rates", default="")
    parser.add_argument("--fault", action="append", default=[], metavar="SYSTEM:CLIENTS:FAULT")
    asked = parser.parse_args()
    faults = {
        (system, int(count)): fault
        for system, count, fault in (fault_text.rsplit(":", 2) for fault_text in asked.fault)
    }
    clients = tuple(int(count) for count in asked.clients.split(","))
    rates = tuple(int(rate) for rate in asked.rates.split(",") if rate) or (None,)
    write_run(asked.folder, SYSTEMS, clients, asked.seconds, asked.repeats, faults, rates)
    for trial in sorted((asked.folder / "trials").iterdir()):
        judge_folder(trial)


if __name__ == "__main__":
    main()
