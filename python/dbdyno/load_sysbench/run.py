"""The run phase: sysbench runs, and its seconds become intervals."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from dataclasses import dataclass, field

from dbdyno.contract import CountedRecord, TotalTransactionsRecord
from dbdyno.load_python import signals
from dbdyno.load_python.failure import Ended
from dbdyno.load_python.records import Records
from dbdyno.load_sysbench.command import command, configuration
from dbdyno.load_sysbench.output import COUNTS, STARTED, Report, Second, read_report, read_second, telling
from dbdyno.load_sysbench.plan import Plan
from dbdyno.load_sysbench.process import Quiet, cpu_s, start

HALF_A_SECOND = 0.5


@dataclass
class _Interval:
    """One second, or what is left of one; counts: of COUNTS."""

    warmup: bool
    seconds: float
    threads: int
    counts: Counter[str]
    client_cpu_s: float


@dataclass
class _Run:
    """One run of sysbench going on. emitted: of what was written already. held: the last second, not yet written."""

    warmup: bool
    emitted: Counter[str] = field(default_factory=Counter)
    emitted_s: float = 0.0
    held: _Interval | None = None
    cpu_s: float = 0.0


class Run:
    """The run phase of a plan: a warm-up is a separate run, because sysbench 1.0 has none.

    So what the second run reports, its histogram above all, is of the measured seconds alone.
    """

    def __init__(self, plan: Plan, known: str, records: Records) -> None:
        self._plan, self._known, self._records = plan, known, records
        self._second, self._began = 0, 0.0
        self._sum: Counter[str] = Counter()
        self._seconds = self._latency_s = self._run_s = 0.0
        self._report: Report | None = None
        self._before: tuple[_Run, _Interval] | None = None

    def execute(self) -> None:
        """Run to the end, or until a signal comes, and write what was recorded; raises Ended if sysbench fails."""
        for warmup, seconds in ((True, self._plan.warmup_s), (False, self._plan.duration_s)):
            if seconds and not signals.stop_requested():
                self._run(warmup, seconds)
        if self._before:
            self._write(*self._before)
        if self._began:
            now = time.time()
            lasted_s = round(now - self._began, 6)
            self._records.write(
                {"record": "phase", "phase": "run", "state": "end", "at_unix_s": now, "seconds": lasted_s}
            )
        self._total()

    def _run(self, warmup: bool, seconds: int) -> None:
        arguments = command(self._plan, "run", self._known, seconds)
        process, output = start(arguments, configuration(self._plan), self._plan.script, self._plan.clients)
        run, lines = _Run(warmup), list[str]()
        with Quiet(process) as quiet:
            for line in output:
                sys.stderr.write(line)
                lines.append(line.rstrip("\n"))
                self._take(run, line, process.pid)
        output.close()
        # If somebody else waited for the process, the kernel has dropped its usage.
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self._end(run, read_report(lines), used.ru_utime + used.ru_stime)
        quiet.check(f"sysbench {self._plan.script} run")
        if process.returncode and not signals.stop_requested():
            raise Ended("failed", f"sysbench {self._plan.script} run: {telling(lines)}")

    def _take(self, run: _Run, line: str, pid: int) -> None:
        if line.startswith(STARTED):
            self._started()
        elif second := read_second(line):
            if run.held:
                self._write(run, run.held)
            used_s = cpu_s(pid, run.cpu_s)
            run.held = _Interval(run.warmup, 1.0, second.threads, _rounded(second), used_s - run.cpu_s)
            run.cpu_s = used_s

    def _started(self) -> None:
        """Begin the phase, or, after a warm-up, have that last until now: what follows is measured from here on."""
        if self._before:
            before, last = self._before
            last.seconds = time.time() - self._began - before.emitted_s
            self._before = None
            self._write(before, last)
        else:
            self._began = time.time()
            self._records.write({"record": "phase", "phase": "run", "state": "begin", "at_unix_s": self._began})

    def _end(self, run: _Run, report: Report | None, cpu_s: float) -> None:
        """Write what is left, made such that all seconds add up to what sysbench counted in all.

        It prints rates a second, rounded, and no line for a last second that was cut.
        """
        if run.held and report:
            over_s = report.seconds - run.emitted_s - run.held.seconds
            left = {name: report.counts[name] - run.emitted[name] - run.held.counts[name] for name in COUNTS}
            if over_s < HALF_A_SECOND:
                run.held.seconds += over_s
                run.held.counts = Counter({name: run.held.counts[name] + left[name] for name in COUNTS})
                run.held.client_cpu_s += cpu_s - run.cpu_s
            else:
                threads = run.held.threads
                # A line that came late has the rate of more than a second: what it says too much is taken off the last.
                for name in COUNTS:
                    run.held.counts[name] = max(0, run.held.counts[name] + min(0, left[name]))
                self._write(run, run.held)
                rest = Counter({name: max(0, left[name]) for name in COUNTS})
                run.held = _Interval(run.warmup, over_s, threads, rest, cpu_s - run.cpu_s)
        elif report:
            counts = Counter(report.counts)
            run.held = _Interval(run.warmup, report.seconds, self._plan.clients, counts, cpu_s)
        if run.held and run.warmup:
            self._before = run, run.held
        elif run.held:
            self._write(run, run.held)
        if report:
            self._latency_s += report.latency_s
            self._run_s += report.seconds
            self._report = None if run.warmup else report

    def _write(self, run: _Run, interval: _Interval) -> None:
        counts = interval.counts
        run.emitted, run.emitted_s, run.held = run.emitted + counts, run.emitted_s + interval.seconds, None
        self._sum, self._seconds = self._sum + counts, self._seconds + interval.seconds
        transactions: CountedRecord = {"completed": counts["completed"], "failed": 0}
        if counts["conflicts"]:
            transactions["conflicts"] = counts["conflicts"]
        self._records.write(
            {
                "record": "interval",
                "second": self._second,
                "warmup": interval.warmup,
                "seconds": round(interval.seconds, 6),
                "connected": interval.threads,
                "transactions": transactions,
                "operations": {},
                "errors": {"connection": counts["reconnects"]} if counts["reconnects"] else {},
                "reads_verified": 0,
                "mismatches": 0,
                "client_cpu_s": round(max(0.0, interval.client_cpu_s), 6),
                "counters": {f"queries_{name}": counts[name] for name in ("read", "write", "other")},
            }
        )
        self._second += 1

    def _total(self) -> None:
        done = self._sum["completed"]
        transactions: TotalTransactionsRecord = {"scheduled": done, "completed": done, "failed": 0, "unfinished": 0}
        if self._sum["conflicts"]:
            transactions["conflicts"] = self._sum["conflicts"]
        if self._report:
            transactions["service_time"] = self._report.service_time
        self._records.write(
            {
                "record": "total",
                "transactions": transactions,
                "operations": {},
                "reads_verified": 0,
                "mismatches": 0,
                "seconds": round(self._seconds, 6),
                "in_flight_mean": self._latency_s / self._run_s if self._run_s else 0.0,
            }
        )


def _rounded(second: Second) -> Counter[str]:
    return Counter({name: round(rate) for name, rate in second.per_s.items()})
