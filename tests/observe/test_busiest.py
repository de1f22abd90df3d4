"""The busiest thread of each name is recorded, and what all of them used together."""

from types import SimpleNamespace

import pytest

from dbdyno.observe import busiest
from dbdyno.observe.busiest import BusiestThreads, name_of, name_of_title


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(busiest, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def test_the_busiest_of_each_name(clock):
    threads = BusiestThreads("threads.redis")
    threads.see({"1": ("main", 0, 0), "2": ("io", 0, 0), "3": ("io", 0, 0), "4": ("idle", 0, 0)})
    assert threads.columns() == {}
    clock[0] = 2.0
    threads.see({"1": ("main", 10**9, 10**9), "2": ("io", 10**8, 0), "3": ("io", 3 * 10**8, 0), "4": ("idle", 0, 0)})
    assert threads.columns() == pytest.approx(
        {
            "threads.redis.main.busiest_cpu": 0.5,
            "threads.redis.main.busiest_run_queue": 0.5,
            "threads.redis.main.cores": 0.5,
            "threads.redis.io.busiest_cpu": 0.15,
            "threads.redis.io.busiest_run_queue": 0.0,
            "threads.redis.io.cores": 0.2,
        }
    )


def test_a_name_once_recorded_stays_and_a_thread_that_is_older_than_it_was_seen_counts_from_its_second_look(clock):
    threads = BusiestThreads("threads.x")
    for second, cpu_ns in enumerate((0, 10**9, 10**9), 1):
        clock[0] = float(second)
        threads.see({"1": ("worker", cpu_ns, 0), **({"2": ("late", 10**12, 0)} if second > 1 else {})})
    assert threads.columns()["threads.x.worker.busiest_cpu"] == 0
    assert "threads.x.late.busiest_cpu" not in threads.columns()


def test_threads_that_live_for_less_than_a_second_are_counted(clock):
    threads = BusiestThreads("threads.x")
    threads.see({"1": ("worker", 0, 0)})
    for second in (1, 2, 3):
        clock[0] = float(second)
        threads.see({"1": ("worker", 0, 0), str(second + 1): ("vacuum", 4 * 10**8, 10**8)})
        assert threads.columns()["threads.x.vacuum.cores"] == pytest.approx(0.4)


def test_not_more_names_than_are_worth_a_column(clock):
    threads = BusiestThreads("threads.java")
    threads.see({str(tid): (f"pool-{tid}", 0, 0) for tid in range(100)})
    clock[0] = 1.0
    threads.see({str(tid): (f"pool-{tid}", 10**8 + tid, 0) for tid in range(100)})
    names = {name.split(".")[2] for name in threads.columns()}
    assert names == {f"pool-{tid}" for tid in range(100 - busiest.MOST_NAMES, 100)}


def test_a_name_is_one_part_of_a_columns_name():
    assert name_of(b"Name:\tG1 Conc#0.x\nUmask:\t0022\n") == "G1 Conc#0-x"


@pytest.mark.parametrize(
    ("command_line", "name"),
    [
        (b"postgres: walwriter \0\0\0", "walwriter"),
        (b"postgres: main: checkpointer ", "checkpointer"),
        (b"postgres: autovacuum worker bench", "autovacuum worker"),
        (b"postgres: dbdyno bench 127.0.0.1(50412) UPDATE", "backend"),
        (b"postgres: dbdyno bench [local] idle", "backend"),
        (b"/usr/lib/postgresql/15/bin/postgres\0-D\0/data", None),
        (b"", None),
    ],
)
def test_a_process_is_called_what_it_says_it_does(command_line, name):
    assert name_of_title(command_line) == name
