"""A screen has every figure that grew, whole items in each line, and no line beyond the edge."""

from dbdyno.cli.watch_screen import Block, screen
from dbdyno.observe.rates import Rates

FIRST = {
    "at_unix_s": 100.0,
    "host.cpu_user_s_total": 10.0,
    "host.cpu_system_s_total": 5.0,
    "host.cpu_iowait_s_total": 0.0,
    "host.cpu_steal_s_total": 0.0,
    "host.cpu_idle_s_total": 100.0,
    "host.runnable": 3.0,
    "disk.vda.reads_total": 0.0,
    "disk.vda.read_bytes_total": 0.0,
    "disk.vda.writes_total": 0.0,
    "disk.vda.write_bytes_total": 0.0,
    "disk.vda.busy_s_total": 0.0,
    "network.received_bytes_total": 0.0,
    "process.mariadbd.cpu_user_s_total": 1.0,
    "process.mariadbd.cpu_system_s_total": 1.0,
    "process.mariadbd.resident_bytes": 120.0 * (1 << 20),
    "threads.mariadbd.connection.busiest_cpu": 0.0,
    "store.mariadb.questions_total": 1000.0,
    "store.mariadb.sent_bytes_total": 0.0,
    "store.mariadb.idle_total": 1.0,
    "store.mariadb.connections": 4.0,
    "waits.mariadb.lock": 0.0,
    "locks.mariadb.trx_mutex": 0.0,
}
SECOND = FIRST | {
    "at_unix_s": 101.0,
    "host.cpu_user_s_total": 11.0,
    "host.cpu_idle_s_total": 101.0,
    "disk.vda.writes_total": 12.0,
    "disk.vda.write_bytes_total": 3.0 * (1 << 20),
    "disk.vda.busy_s_total": 0.25,
    "process.mariadbd.cpu_user_s_total": 1.5,
    "threads.mariadbd.connection.busiest_cpu": 0.34,
    "store.mariadb.questions_total": 2234.0,
    "store.mariadb.sent_bytes_total": 14.0,
    "waits.mariadb.lock": 1.25,
    "locks.mariadb.trx_mutex": 1.0,
}


def lines(width):
    rates = Rates()
    rates.see(FIRST)
    rates.see(SECOND)
    return screen(SECOND, rates, width)


def test_a_screen_has_every_band():
    assert lines(200) == [
        "host     user 50%  system 0%  idle 50% of 2 CPUs  run queue 3",
        "disk     vda  reads 0/s 0.0 MiB/s  writes 12/s 3.0 MiB/s  busy 25%",
        "network  received 0.0 MiB/s",
        "process  mariadbd  CPU 0.50 (user 0.50, system 0.00)  memory 120 MiB",
        "threads  connection 34%",
        "store    questions 1,234/s  sent 14.0 B/s  connections 4.00",
        "waits    lock 1.25",
        "locks    trx mutex 1.00",
    ]


def test_a_narrow_screen_breaks_between_items():
    narrow = lines(44)
    assert max(map(len, narrow)) <= 44
    assert narrow[:2] == ["host     user 50%  system 0%", "         idle 50% of 2 CPUs  run queue 3"]


def test_a_block_without_room_says_how_many_items_it_leaves_out():
    lines_of_block = Block("locks", [f"lock_{number}  1.00" for number in range(20)]).lines(60)
    assert len(lines_of_block) == 2 and lines_of_block[-1].endswith(" +14") and max(map(len, lines_of_block)) <= 60
