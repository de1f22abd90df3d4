"""The program as it is run: real servers, the records dbdyno reads, and what went wrong in sysbench's own words."""

import json
import signal

import pytest

from dbdyno.results.facts import TrialFacts
from dbdyno.results.identities import warnings_of
from dbdyno.results.records import read_records
from helpers import wait_until
from load_sysbench.conftest import executed, of_kind, plan_of, started


def plan_on(server, secrets, **options):
    return plan_of(server.store_plan(secrets), **options)


@pytest.mark.parametrize("name", ["mariadb", "postgresql"])
def test_a_trial_can_be_read_and_adds_up(server, tmp_path, name):
    secrets = []
    plan = plan_on(server(name), secrets, sysbench="--range-size=5")
    records = executed(plan, secrets)
    assert records[-1] == {"record": "end", "status": "complete", "reason": None}
    path = tmp_path / "records.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    recorded = read_records(path)
    assert recorded.completed == recorded.service_time.count > 0
    warmups = [interval.warmup for interval in recorded.intervals]
    # Its threads may end late on a busy host, the warm-up's too, which makes an interval more, but never early.
    assert warmups[0] and not warmups[-1] and warmups == sorted(warmups, reverse=True)
    assert recorded.seconds > 1.99
    assert warnings_of(recorded, TrialFacts(seconds=2, clients=None), None) == ()
    assert recorded.hello["program"] == "sysbench" and recorded.hello["not_given"]["brief"]
    assert all(
        sum(interval.counters[f"queries_{kind}"] for interval in recorded.measured)
        for kind in ("read", "write", "other")
    )


def test_a_script_of_ones_own_without_tables(server, tmp_path):
    script = tmp_path / "ping.lua"
    script.write_text(
        "function thread_init() con = sysbench.sql.driver():connect() end\nfunction event() con:query('SELECT 1') end\n"
    )
    secrets = []
    plan = plan_on(server("mariadb"), secrets, script=str(script)) | {"warmup_s": 0}
    records = executed(plan, secrets)
    assert records[-1]["status"] == "complete" and of_kind(records, "total")[0]["transactions"]["completed"] > 0
    assert of_kind(records, "interval")[0]["second"] == 0


def test_a_script_that_fails_says_so_in_its_own_words(server, tmp_path):
    script = tmp_path / "broken.lua"
    script.write_text("function prepare() error('no such luck') end\nfunction event() end\n")
    secrets = []
    records = executed(plan_on(server("mariadb"), secrets, script=str(script)), secrets)
    assert records[-1]["status"] == "failed" and "no such luck" in records[-1]["reason"]
    assert f"sysbench {script} prepare" in records[-1]["reason"]


def test_a_signal_ends_the_run_and_keeps_what_there_is(server):
    secrets = []
    plan = plan_on(server("mariadb"), secrets) | {"warmup_s": 0, "duration_s": 600}
    process = started()
    process.stdin.write(f"{json.dumps(plan)}\n{json.dumps({'secrets': secrets})}\n")
    process.stdin.close()
    lines = []
    wait_until(lambda: lines.append(process.stdout.readline()) or '"interval"' in lines[-1])
    process.send_signal(signal.SIGINT)
    records = [json.loads(line) for line in [*lines, *process.stdout]]
    process.wait()
    process.stderr.close()
    assert records[-1]["status"] == "interrupted" and of_kind(records, "total")[0]["transactions"]["completed"] > 0
