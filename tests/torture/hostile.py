"""The fuzzer of servers: real conversations, played back wrongly to dbdyno-load.

Findings, by protocol: crashes (a signal, a panic, no record `end`), hangs (past the operation's time-out and 5 s),
memory over the bound, and wrong data accepted.

Wrong data: a run of point-get verifies every row it reads. The two padded columns of each answer are known, 240 of
a row's 260 bytes. A read counts as rightly verified if the row that its request asks for is among the recorded ones and
both columns came as recorded; more reads verified than that is wrong data accepted. Bytes that say nothing of a row are
not counted: packet numbers, names of columns, flags.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from torture.hostile_playback import event_loop, play
from torture.hostile_recording import Conversation, record
from torture.part import Part, Report

PROTOCOLS = ("mysql", "postgresql", "redis", "memcached", "mongodb", "cql", "handlersocket")
AT_ONCE = 40
TURN = 500


def run(seed: int, cases: range, report: Report) -> None:
    """Play these conversations of every protocol; a case is the conversation of that number in each of them.

    Protocols take turns, so that a run that is out of time has played as many of each.
    """
    recorded = {protocol: record(protocol)[1] for protocol in PROTOCOLS}
    for first in range(cases.start, cases.stop, TURN):
        for protocol in PROTOCOLS:
            _play_all(protocol, seed, range(first, min(first + TURN, cases.stop)), recorded[protocol], report)


def _play_all(protocol: str, seed: int, cases: range, recorded: list[Conversation], report: Report) -> None:
    others = [exchange.answer for conversation in recorded for part in conversation.connections for exchange in part]
    with event_loop() as loop, ThreadPoolExecutor(AT_ONCE) as pool:

        def play_case(number: int) -> None:
            if report.out_of_time:
                return
            verdict = play(loop, _choose(recorded, number), others, f"{protocol}-{seed}-{number}")
            report.case(protocol)
            if verdict.kind:
                report.finding(protocol, number, f"{verdict.kind}: {verdict.seen}")

        for _ in pool.map(play_case, cases):
            pass
    report.say(f"{protocol}: {report.cases[protocol]:,} conversations")


def _choose(recorded: list[Conversation], number: int) -> Conversation:
    """Return a run every second time: only that reads rows."""
    return recorded[0] if number % 2 == 0 else recorded[number // 2 % len(recorded)]


PART = Part("hostile", "conversations", full=10_000, short=20, run=run, each="protocol")
