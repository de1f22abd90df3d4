"""Lines of sysbench 1.0.20 as it prints them."""

import pytest

from dbdyno.load_sysbench.output import read_report, read_second, telling
from dbdyno.stats.histogram import Histogram, bucket_bounds

SECOND = (
    "[ 1s ] thds: 4 tps: 492.59 qps: 9886.72 (r/w/o: 6925.20/1972.35/989.17) lat (ms,95%): 21.50 err/s: 2.00 "
    "reconn/s: 1.00\n"
)
REPORT = """\
Latency histogram (values are in milliseconds)
       value  ------------- distribution ------------- count
       1.044 |**********                               2
      25.737 |****************************************  40
     100.000 |*                                        1

SQL statistics:
    queries performed:
        read:                            602
        write:                           172
        other:                           86
        total:                           860
    transactions:                        43     (14.30 per sec.)
    queries:                             860    (286.00 per sec.)
    ignored errors:                      3      (0.10 per sec.)
    reconnects:                          1      (0.00 per sec.)

General statistics:
    total time:                          3.0059s
    total number of events:              43

Latency (ms):
         min:                                    1.04
         avg:                                   26.20
         max:                                   99.71
         95th percentile:                       27.17
         sum:                                 1126.60
"""


def test_a_second():
    second = read_second(SECOND)
    assert second.threads == 4
    assert second.per_s == {
        **{"completed": 492.59, "conflicts": 2.0, "reconnects": 1.0},
        **{"read": 6925.2, "write": 1972.35, "other": 989.17},
    }


def test_a_second_of_a_script_that_asks_no_database():
    assert read_second("[ 2s ] thds: 1 eps: 258 lat (ms,95%): 0.00\n").per_s["completed"] == 258


@pytest.mark.parametrize("line", ["Threads started!", "", "[ 1s ] Checkpoint report:", "Prewarming table sbtest1"])
def test_other_lines_are_no_second(line):
    assert read_second(line) is None


def test_the_report():
    report = read_report(REPORT.splitlines())
    assert report.counts == {
        **{"completed": 43, "conflicts": 3, "reconnects": 1},
        **{"read": 602, "write": 172, "other": 86},
    }
    assert (report.seconds, report.latency_s) == (3.0059, pytest.approx(1.1266))
    assert read_report(["FATAL: unable to connect"]) is None


def test_its_histogram_is_one_of_the_contract_to_the_width_of_its_own_buckets():
    times = Histogram.from_record(read_report(REPORT.splitlines()).service_time)
    assert (times.count, times.min_ns, times.max_ns, times.sum_ns) == (43, 1_040_000, 99_710_000, 1_126_600_000)
    lowest, width = bucket_bounds(int(times.indices[1]))
    assert lowest <= 25_737_000 < lowest + width
    assert times.percentile_ns(50) == pytest.approx(25_737_000, rel=0.009)


def test_what_it_said_of_a_failure():
    said = ["sysbench 1.0.20", "", "FATAL: unable to connect to MySQL server", "FATAL: error 2002: no", "bye"]
    assert telling(said) == "FATAL: unable to connect to MySQL server; FATAL: error 2002: no"
    assert telling(["something", "else"]) == "else" and telling([]) == "it said nothing"
