"""perf's output becomes stacks with the time that each ran or waited."""

from collections import Counter

from dbdyno.observe.stacks.fold import PREEMPTED, fold, unnamed_shares

SWITCH = """\
load 1 worker 7/8 10.000000:          1 context-switches/period=3/:
    ffffffff821fb643 schedule ([kernel.kallsyms])
                1169 sleep_a_moment(int, char) (/opt/a server)
                117c main (/opt/a server)

load 1 worker 7/8 10.000010: PERF_RECORD_SWITCH OUT{preempt}
load 1 worker 7/8 10.250000: PERF_RECORD_SWITCH IN
"""
CLOCK = """\
main 7/7 11.500000:   10101010 cpu-clock/freq=99/u:
                1145 burn;cycles (/opt/server)
                9999 [unknown] (/usr/lib/libz.so.1)
                8888 [unknown] ([unknown])
                1177 main (/opt/server)

"""
WORKER = "load 1 worker;main;sleep_a_moment(int, char);schedule_[k]"


def lines(text):
    return text.splitlines(keepends=True)


def test_a_sample_of_the_clock_is_time_on_cpu():
    folded = fold(lines(CLOCK + CLOCK), 1)
    assert folded.on_cpu == {"main;main;[unknown];[libz.so.1];burn:cycles": 20202}
    assert folded.samples == {"on-cpu": 2} and not folded.off_cpu


def test_a_thread_waits_from_its_switch_out_to_its_next_switch_in():
    folded = fold(lines(SWITCH.format(preempt="")), 3)
    assert folded.off_cpu == {WORKER: 3 * 250_000}
    assert folded.samples == {"off-cpu": 1}


def test_a_thread_that_lost_its_cpu_waits_for_one():
    assert fold(lines(SWITCH.format(preempt=" preempt")), 1).off_cpu == {f"{WORKER};{PREEMPTED}": 250_000}


def test_a_wait_that_has_not_ended_is_cut_at_the_last_event():
    begun = SWITCH.format(preempt="").partition("load 1 worker 7/8 10.25")[0]
    assert fold(lines(begun + CLOCK), 1).off_cpu == {WORKER: 1_500_000}


def test_another_threads_switch_ends_no_wait():
    other = "other 7/9 10.100000: PERF_RECORD_SWITCH IN\n"
    text = SWITCH.format(preempt="").replace("load 1 worker 7/8 10.25", other + "load 1 worker 7/8 10.25")
    assert fold(lines(text), 1).off_cpu == {WORKER: 250_000}


def test_how_much_has_no_name():
    assert unnamed_shares(Counter({"a;[x]": 30, "a;b": 10, "[y];[x]": 40})) == {"x": 0.438, "y": 0.25}
    assert unnamed_shares(Counter()) == {}
