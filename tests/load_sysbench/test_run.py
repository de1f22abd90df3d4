"""Seconds that sysbench prints as rounded rates add up to what it counted in all."""

import io
import json

import pytest

from dbdyno.load_python.records import Records
from dbdyno.load_sysbench.output import COUNTS, Report
from dbdyno.load_sysbench.run import Run, _Run
from load_sysbench.conftest import STORE, of_kind, plan_of
from load_sysbench.test_plan import read

LINE = "[ {s}s ] thds: 2 tps: {tps} qps: 0.00 (r/w/o: 0.00/0.00/0.00) lat (ms,95%): 1.00 err/s: 0.00 reconn/s: 0.00\n"


def ended(tps, report):
    """Return the intervals of a run that printed so many transactions a second, and then its report."""
    out = io.StringIO()
    run, part = Run(read(plan_of(STORE)), "", Records(out)), _Run(warmup=False)
    for second, rate in enumerate(tps, 1):
        run._take(part, LINE.format(s=second, tps=rate), 1 << 22)
    run._end(part, report, 1.5)
    return of_kind([json.loads(line) for line in out.getvalue().splitlines()], "interval")


def report_of(completed, seconds):
    return Report(dict.fromkeys(COUNTS, 0) | {"completed": completed}, seconds, 1.0, {})


@pytest.mark.parametrize(
    ("tps", "completed", "seconds", "lengths"),
    [
        ([100.4, 100.4, 100.4], 302, 3.002, [1.0, 1.0, 1.002]),
        ([100.4, 100.4], 301, 3.001, [1.0, 1.0, 1.001]),
        ([100.4, 100.4], 250, 2.6, [1.0, 1.0, 0.6]),
        ([], 40, 0.7, [0.7]),
        ([100.6, 100.6], 200, 2.0, [1.0, 1.0]),
        ([150, 150], 290, 2.8, [1.0, 1.0, 0.8]),
    ],
)
def test_whatever_was_printed_the_sums_are_the_reports(tps, completed, seconds, lengths):
    intervals = ended(tps, report_of(completed, seconds))
    assert sum(interval["transactions"]["completed"] for interval in intervals) == completed
    assert [interval["seconds"] for interval in intervals] == pytest.approx(lengths)
    assert [interval["second"] for interval in intervals] == list(range(len(lengths)))
    assert sum(interval["client_cpu_s"] for interval in intervals) == pytest.approx(1.5)


def test_without_a_report_what_was_printed_is_kept():
    assert [interval["transactions"]["completed"] for interval in ended([10, 20], None)] == [10, 20]
