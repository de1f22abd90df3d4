"""Servers of others stay as they were: experiments run on them and are killed, `dbdyno clean` follows, nothing differs.

A case starts one kind of server, fills it with data of others, also with data that looks like dbdyno's, and notes all
that it holds. Then it runs two to four of the shipped experiments that can run there, with different numbers of rows,
kills most of them in mid-run, and calls `dbdyno clean`. A finding is any difference to what the server held before, a
clean-up that fails, and a second one that still removes something.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from dbdyno.experiment.system_spec import parse_system, with_labels
from dbdyno.experiment.toml import Table
from dbdyno.load_sysbench.database import DATABASE
from dbdyno.systems import build, missing
from dbdyno.systems.base import Launch
from dbdyno.systems.running.endpoint import Endpoint
from dbdyno.systems.running.guard import Guard
from torture import others
from torture.attachable import attachable, options_of
from torture.isolation import adopt_orphans, isolate
from torture.leftovers import below, wait_for_the_end
from torture.others import Others, State
from torture.part import Part, Report, dice

DBDYNO = [sys.executable, "-P", "-m", "dbdyno"]
BOUND_S = 120
REFUSED = 2
"""The status of a run that is refused before it begins."""
GRACE_S = 20
KINDS = (
    Others("mariadb", "mysql", others.fill_mysql, others.state_mysql),
    Others("postgresql", "postgresql", others.fill_postgresql, others.state_postgresql),
    Others("redis", "redis", others.fill_redis, others.state_redis),
    Others("memcached", "memcached", others.fill_memcached, others.state_memcached),
    Others("ferretdb", "mongodb", others.fill_mongodb, others.state_mongodb),
    Others("mysql@5.6", "mysql", others.fill_mysql, others.state_mysql),
)
ROWS = ("50", "300", "1000", "5000")
OF_TPCC = "1"
"""Its rows are warehouses, of 650,000 records each."""
SHOWN = 4
"""Differences of a case that are named; all are counted."""


@dataclass(frozen=True)
class Attack:
    """One run on somebody else's server.

    keys: those of the experiment that are not the file's.
    struck: who gets SIGKILL; nobody: it runs to its end. loading: the moment counts from when it begins to load, else
    from its start.
    """

    experiment: str
    rows: str
    keys: Table
    struck: str
    loading: bool
    after_s: float
    keep: bool

    def __str__(self) -> str:
        end = f"{self.struck} killed" if self.struck else "to its end"
        of = f" of {self.keys['workload']}" if "workload" in self.keys else ""
        return f"{self.experiment}{of} --rows {self.rows}{' --keep' if self.keep else ''}, {end}"

    def command(self, url: str, out: Path) -> list[str]:
        """Return the words of the run at a URL, its folder below `out`."""
        sized = [self.experiment, "--rows", self.rows, *options_of(self.keys), *(["--keep"] if self.keep else [])]
        return [*DBDYNO, "run", *sized, "--system", url, "--out", str(out)]


def draw(chance: random.Random, kind: Others) -> list[Attack]:
    """Return the runs of a case, at least one of which is killed."""
    attacks = []
    for number in range(chance.randrange(2, 5)):
        name, choices = chance.choice(list(attachable(kind.scheme).items()))
        keys = chance.choice(choices)
        struck = chance.choice(("dbdyno", "dbdyno", "all", "load", "")) if number else "dbdyno"
        loading = chance.random() < 0.7
        rows = OF_TPCC if keys.get("workload") == "tpcc" else chance.choice(ROWS)
        moment_s = chance.uniform(0, 0.5 if loading else 4)
        attacks.append(Attack(name, rows, keys, struck, loading, moment_s, keep=chance.random() < 0.2))
    chance.shuffle(attacks)
    return attacks


def attack(todo: Attack, url: str, folder: Path, environment: dict[str, str]) -> int | None:
    """Run it, and return the status it ended with; None if it did not end."""
    keep = frozenset(child.pid for child in psutil.Process().children())
    out = Path(tempfile.mkdtemp(dir=folder))
    process = subprocess.Popen(
        todo.command(url, out),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=(out / "said").open("wb"),
        env=environment,
    )
    if todo.struck:
        began = time.monotonic()
        while process.poll() is None and todo.loading and not list(out.glob("*/preparations/*/records.jsonl")):
            time.sleep(0.002)
        began = time.monotonic() if todo.loading else began
        while process.poll() is None and time.monotonic() < began + todo.after_s:
            time.sleep(0.002)
        _strike(todo.struck, process, keep)
    try:
        status = process.wait(BOUND_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        status = None
    for left in wait_for_the_end(GRACE_S, keep):
        with suppress(psutil.NoSuchProcess):
            left.kill()
    wait_for_the_end(GRACE_S, keep)
    return status


def _strike(who: str, dbdyno: subprocess.Popen[bytes], keep: frozenset[int]) -> None:
    """Kill dbdyno, the load client, or all that there is of a run."""
    for process in below(keep, dbdyno.pid):
        with suppress(psutil.NoSuchProcess):
            is_load = any("dbdyno-load" in word or "dbdyno.load_" in word for word in process.cmdline())
            if who == "all" or (who == "load" and is_load) or (who == "dbdyno" and process.pid == dbdyno.pid):
                process.send_signal(signal.SIGKILL)


def clean(url: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Return what `dbdyno clean` said."""
    command = [*DBDYNO, "clean", url]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=BOUND_S, env=environment)


def environment_of(endpoint: Endpoint, folder: Path) -> dict[str, str]:
    """Return the environment of a run whose files go below `folder`."""
    places = dict.fromkeys(("TMPDIR", "XDG_DATA_HOME", "DBDYNO_STATE_DIR"), str(folder))
    return os.environ | places | ({"DBDYNO_PASSWORD": endpoint.password} if endpoint.password else {})


def differences(before: State, after: State) -> list[str]:
    """Return what is gone, new or changed, each in a few words."""
    gone = [f"{name} is gone" for name in before.keys() - after.keys()]
    new = [f"{name} is new" for name in after.keys() - before.keys()]
    both = sorted(before.keys() & after.keys())
    changed = [
        f"{name} was {_few(before[name])}, is {_few(after[name])}" for name in both if before[name] != after[name]
    ]
    return [*sorted(gone), *changed, *sorted(new)]


def without_empty(state: State) -> State:
    """Return a state without an empty database of sysbench's.

    MySQL has no mark for a database: a kill before its first table leaves it, and `clean` says so (docs/leftovers.md).
    """
    if any(f"{quote}{DATABASE}{quote}." in name for name in state for quote in ("`", "")):
        return state
    return {name: content for name, content in state.items() if DATABASE not in name}


def _few(content: object) -> str:
    text = repr(content)
    return text if len(text) <= 120 else f"{text[:60]} … {text[-50:]}"


def one_case(kind: Others, chance: random.Random, folder: Path) -> Iterator[str]:
    """Do it, and yield each finding."""
    (spec,) = with_labels([parse_system(kind.system)])
    server = build(spec)
    with ExitStack() as stack:
        guard = stack.enter_context(Guard())
        stack.callback(server.stop)
        server.start(Launch(guard, folder, clients=16, rows=5000, parent=folder))
        endpoint = server.endpoint
        kind.fill(endpoint, chance)
        before = kind.state(endpoint)
        yield from _attack_and_clean(kind, draw(chance, kind), endpoint, folder, before)


def _attack_and_clean(
    kind: Others, attacks: list[Attack], endpoint: Endpoint, folder: Path, before: State
) -> Iterator[str]:
    """Do all attacks, clean, and yield what differs from before."""
    url, environment = kind.url(endpoint), environment_of(endpoint, folder)
    ended = [attack(todo, url, folder, environment) for todo in attacks]
    story = "; ".join(f"{todo} ({status})" for todo, status in zip(attacks, ended, strict=True))
    if None in ended:
        yield f"{story}: did not end within {BOUND_S} s"
    if set(ended) == {REFUSED}:
        yield f"{story}: no run has begun"
    said = clean(url, environment)
    if said.returncode != 0 or "Traceback" in said.stderr:
        yield f"after {story}: dbdyno clean failed ({said.returncode}): {(said.stderr.strip() or '-')[-300:]}"
    after = kind.state(endpoint)
    if DATABASE in said.stdout:
        after = without_empty(after)
    if differing := differences(before, after):
        more = f" and {len(differing) - SHOWN:,} more" if len(differing) > SHOWN else ""
        yield f"after {story}, and clean ({said.stdout.strip()}): {'; '.join(differing[:SHOWN])}{more}"
    if not said.returncode and "removed" in (again := clean(url, environment).stdout):
        yield f"after {story}: a second dbdyno clean still removed something: {again.strip()}"


def run(seed: int, cases: range, report: Report) -> None:
    """Do these cases; the kinds of servers take turns."""
    adopt_orphans()
    isolate()
    kinds = []
    for kind in KINDS:
        if reason := missing(parse_system(kind.system)):
            report.skip(kind.system, reason)
        else:
            kinds.append(kind)
    for case in cases:
        if report.out_of_time or not kinds:
            return
        kind = KINDS[case % len(KINDS)]
        if kind not in kinds:
            continue
        folder = Path(tempfile.mkdtemp(prefix="torture-"))
        folder.chmod(0o755)
        began = time.monotonic()
        try:
            findings = list(one_case(kind, dice(seed, case), folder))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        report.case(kind.system)
        report.say(f"case {case}: {kind.system} ({time.monotonic() - began:.1f} s, {len(findings)} findings)")
        for what in findings:
            report.finding(kind.system, case, f"{kind.system}: {what}")


PART = Part("attached", "rounds", full=60, short=2, run=run)
