"""The fuzzer of servers: real conversations, played back wrongly to dbdyno-load.

    python tests/torture/hostile.py --protocol redis --conversations 10000 --seed 1

Counts, by protocol: crashes (a signal, a panic, no record `end`), hangs (past the operation's time-out and 5 s), memory
over the bound, and wrong data accepted. Exit status 1 if any count is not 0.

Wrong data: a run of point-get verifies every row it reads. Of each answer the two padded columns are known, 240 of a
row's 260 bytes. A read counts as rightly verified if the row that its request asks for is among the recorded ones and
both columns came as recorded; more reads verified than that is wrong data accepted. What says nothing of a row is not
counted: packet numbers, names of columns, flags.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from torture.hostile_playback import KINDS, event_loop, play
from torture.hostile_recording import Conversation, record

PROTOCOLS = ("mysql", "postgresql", "redis", "memcached", "mongodb", "cql", "handlersocket")
SHOWN = 5


def main(arguments: list[str]) -> int:
    """Fuzz the protocols asked for; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--protocol", choices=PROTOCOLS, action="append", help="One of them; repeatable. Default: all.")
    parser.add_argument("--conversations", type=int, default=10_000, help="Of each protocol.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--at-once", type=int, default=40)
    parser.add_argument("--json", type=Path, help="A file for the counts.")
    given = parser.parse_args(arguments)
    rows = [fuzz(one, given.conversations, given.seed, given.at_once) for one in given.protocol or PROTOCOLS]
    if given.json:
        given.json.write_text(json.dumps({"seed": given.seed, "protocols": rows}, indent=1) + "\n")
    print(markdown(rows, given.seed))
    return int(any(row[kind] for row in rows for kind in KINDS))


def fuzz(protocol: str, conversations: int, seed: int, at_once: int) -> dict[str, object]:
    """Return the counts of a protocol, by kind; the first few of what was found go to stderr, with their seeds."""
    server, recorded = record(protocol)
    others = [exchange.answer for one in recorded for part in one.connections for exchange in part]
    counts: Counter[str] = Counter()
    began = time.monotonic()
    with event_loop() as loop, ThreadPoolExecutor(at_once) as pool:

        def one(number: int) -> None:
            name = f"{protocol}-{seed}-{number}"
            verdict = play(loop, _choose(recorded, number), others, name)
            if verdict.kind:
                counts[verdict.kind] += 1
                if counts[verdict.kind] <= SHOWN:
                    print(f"{name}: {verdict.kind}: {verdict.seen}", file=sys.stderr, flush=True)
            else:
                counts["verified"] += int(verdict.seen)

        for _ in pool.map(one, range(conversations)):
            pass
    taken = {"protocol": protocol, "server": server, "conversations": conversations, "rows": counts["verified"]}
    return {**taken, **{kind: counts[kind] for kind in KINDS}, "seconds": round(time.monotonic() - began)}


def _choose(recorded: list[Conversation], number: int) -> Conversation:
    """Return a run every second time: only that reads rows."""
    return recorded[0] if number % 2 == 0 else recorded[number // 2 % len(recorded)]


def markdown(rows: list[dict[str, object]], seed: int) -> str:
    """Return the counts as a table."""
    head = [*rows[0]]
    lines = [f"Seed {seed}.", "", f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return "\n".join([*lines, *(f"| {' | '.join(str(row[key]) for key in head)} |" for row in rows)])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
