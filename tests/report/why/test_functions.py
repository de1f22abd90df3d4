"""Functions that a transaction spends more time in, from stacks."""

import json

from dbdyno.report.flame_graph import draw_profiles
from dbdyno.report.why.functions import functions
from report.why.conftest import conclude

RATES = {"fast": 2000, "slow": 1000}


def _stacks(slow_us, idle_s=5):
    """Put in stacks of 5 s: `compare` costs the slow side more; a thread waits for `idle_s` whatever there is to do."""

    def put(label, folder, trial):
        trial.setdefault("network_delay_us", 0)
        done = RATES[label] * 5
        compare_us = done * (slow_us if label == "slow" else 50)
        profile = folder / "profile"
        profile.mkdir()
        (profile / "profile.json").write_text(json.dumps({"transactions_per_s": RATES[label], "seconds": 5}))
        lines = f"main;parse {done * 100}\nmain;search;compare;read_[k] {compare_us}\nmain;search;compare {done}\n"
        (profile / "server-on-cpu.folded").write_text(lines)
        (profile / "server-off-cpu.folded").write_text(f"main;sleep;schedule_[k] {int(idle_s * 1e6)}\n")

    return put


def test_the_slower_function_is_named_with_the_kernels_time_in_it(pairs):
    given = pairs(_stacks(500))
    (function,) = functions(given)
    assert (function.kind, function.name) == ("function", "compare, running (server)")
    assert (function.before, function.after) == ("51.0 µs", "501 µs") and function.share > 0.5 and function.note == ""
    run = given.compared.baseline.run.path
    draw_profiles(run)
    assert "server-on-cpu-against-001-mariadb-game-c4.svg" in functions(given)[0].note


def test_a_function_of_the_full_server_explains_the_queue_before_it(pairs):
    def put(limit):
        def put(label, folder, trial):
            _stacks(150)(label, folder, trial)
            conclude(folder, limit, server_cpu=1.0, server_cpu_wait=3.0)

        return put

    (elsewhere,), (full,) = functions(pairs(put("commit"))), functions(pairs(put("server-cpu")))
    assert full.share == min(1.0, 4 * elsewhere.share) > elsewhere.share


def test_a_thread_that_always_waits_explains_nothing(pairs):
    assert functions(pairs(_stacks(50))) == []


def test_a_client_that_waits_for_its_server_explains_nothing(pairs):
    def put(label, folder, trial):
        _stacks(50)(label, folder, trial)
        waited_us = RATES[label] * 5 * (500 if label == "slow" else 50)
        (folder / "profile" / "client-off-cpu.folded").write_text(f"main;syscall;schedule_[k] {waited_us}\n")

    assert functions(pairs(put)) == []

    def put_inside(label, folder, trial):
        put(label, folder, trial)
        trial["embedded"] = True

    (function,) = functions(pairs(put_inside))
    assert function.name == "syscall, waiting (client)"


def test_without_stacks_there_is_no_function(pairs):
    assert functions(pairs()) == []
