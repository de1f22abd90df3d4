"""Events on real servers: each begins at its second, is recorded with its end, and leaves nothing behind."""

import json
import time
from pathlib import Path

import pytest
from rich.console import Console

from dbdyno.conduct.listener import Listener
from dbdyno.conduct.resolve import resolve
from dbdyno.conduct.run import conduct
from dbdyno.errors import UserError
from dbdyno.report.details import print_details
from dbdyno.report.document import document
from dbdyno.results.read import read_run
from dbdyno.stats.disturbance import LEAST_OUTAGE_S
from helpers import experiment, need, need_program

KEYS = {
    "workload": "point-update",
    "rows": 2000,
    "clients": [4],
    "seconds": 7,
    "warmup_seconds": 0,
    "host": False,
    "ceiling": False,
}
SLEEP = {"at": 4, "command": "sleep 1"}


def run(tmp_path, system, *events, **keys):
    made = experiment(**KEYS | {"system": system, "events": list(events)} | keys)
    end = conduct(made, "dbdyno run", tmp_path, Listener())
    recorded_run = read_run(end.folder)
    (trial,) = recorded_run.trials
    return end, trial.about["events"], recorded_run


def shown_by(print_all, recorded_run):
    console = Console(record=True, width=200)
    print_all(recorded_run, console)
    return console.export_text()


def test_statements_and_commands_run_beside_the_load(tmp_path):
    need("mariadb")
    need_program("mariadb", "mariadb-client")
    query = "SELECT 'hello', COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE()"
    command = (
        'mariadb --defaults-file="$DBDYNO_DEFAULTS_FILE" -Ne "SELECT 41 + 1"; '
        'env | grep -cFf "$DBDYNO_PASSWORD_FILE"; stat -c %a "$DBDYNO_DEFAULTS_FILE"; '
        'dirname "$DBDYNO_DEFAULTS_FILE"; echo $DBDYNO_HOST:$DBDYNO_PORT $DBDYNO_DATABASE'
    )
    end, (statement, shell), recorded_run = run(
        tmp_path, "mariadb", {"at": 5, "command": command, "name": "a look"}, {"at": 3, "sql": f"{query}; SELECT 7"}
    )
    assert (end.state, end.reason) == ("complete", None)
    assert (statement["state"], statement["exit_status"], statement["reason"]) == ("ok", 0, None)
    assert [line.split("\t")[0] for line in statement["output"]] == ["hello", "7"] and statement["sql"].startswith(
        query
    )
    began = recorded_run.trials[0].recorded.run_began_unix_s
    assert statement["began_unix_s"] - began >= 3 and statement["began_unix_s"] < statement["ended_unix_s"]
    # No variable has the password.
    assert shell["output"][:3] == ["42", "0", "600"] and shell["name"] == "a look"
    assert shell["output"][4].startswith("127.0.0.1:") and shell["output"][4].endswith(" dbdyno")
    # The folder with the password is gone.
    assert not Path(shell["output"][3]).exists()


def test_an_event_that_fails_fails_the_trial_unless_it_may(tmp_path):
    need("mariadb")
    wrong = {"at": 3, "sql": "SELECT * FROM no_such_table"}
    end, (event,), _ = run(tmp_path / "strict", "mariadb", wrong, seconds=5)
    assert end.state == "failed" and "the event 'SELECT * FROM no_such_t…' did not succeed: it ended with" in end.reason
    assert (event["state"], event["exit_status"]) == ("failed", 1) and "no_such_table" in event["output"][-1]
    end, (event,), recorded_run = run(tmp_path / "tolerant", "mariadb", wrong | {"if_fails": "warn"}, seconds=5)
    assert (end.state, event["state"]) == ("complete", "failed")
    assert "at 3 s: failed: it ended with status 1" in shown_by(print_details, recorded_run)


def test_an_event_ends_with_the_trial(tmp_path):
    need("mariadb")
    marker = tmp_path / "went-on"
    command = f"sleep 20 & echo $!; wait; touch {marker}"
    end, (event,), _ = run(tmp_path / "runs", "mariadb", {"at": 4, "command": command}, seconds=5)
    assert end.state == "failed" and "it still ran when the trial ended: give more seconds" in end.reason
    assert (event["state"], event["ended_unix_s"], event["exit_status"]) == ("cut", None, None)
    # The processes that it started ended with it.
    deadline = time.monotonic() + 30
    while Path(f"/proc/{event['output'][0]}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not Path(f"/proc/{event['output'][0]}").exists() and not marker.exists()


def longest_gap_s(trial, event):
    """Return the longest time without a completion that reached beyond the event's begin."""
    began_ns = (event["began_unix_s"] - trial.recorded.run_began_unix_s) * 1e9
    return (
        max((length for begin, length in trial.recorded.gaps_ns.tolist() if begin + length > began_ns), default=0) / 1e9
    )


@pytest.mark.parametrize("action", ["restart", "kill"])
def test_a_server_that_is_taken_away_comes_back(tmp_path, action):
    need("postgresql")
    end, (event,), recorded_run = run(tmp_path, "postgresql", {"at": 4, "action": action}, seconds=12)
    assert (end.state, end.reason) == ("complete", None)
    assert event["state"] == "ok" and event["ended_unix_s"] > event["began_unix_s"]
    (trial,) = document(recorded_run)["trials"]
    (cost,) = trial["events"]
    # By how much throughput changes in that second depends on the host: on a full one it may even rise.
    assert cost["during_change"] is not None and trial["errors"] > 0
    # A server that is back within a tenth of a second was not without service.
    assert (cost["without_service_s"] > 0) is (longest_gap_s(recorded_run.trials[0], event) >= LEAST_OUTAGE_S)
    assert trial["reads_verified"] >= 0 and trial["mismatches"] == 0
    assert trial["timeline"][-1]["transactions"] > 0
    said = shown_by(print_details, recorded_run)
    assert f"{action} at 4 s" in said and "operations failed" not in said


@pytest.mark.parametrize(("system", "action"), [("mariadb", "dump"), ("postgresql", "backup"), ("postgresql", "dump")])
def test_a_backup_is_whole_and_is_removed(tmp_path, system, action):
    need(system)
    need_program("mariadb-dump", "mariadb-client")
    end, (event,), recorded_run = run(tmp_path, system, {"at": 3, "action": action}, seconds=8)
    assert (end.state, end.reason, event["state"]) == ("complete", None, "ok")
    (summary,) = document(recorded_run)["events"]
    assert summary["figures"]["duration_s"]["mean"] > 0 and (summary["usable"], summary["trials"]) == (1, 1)


@pytest.mark.parametrize(
    ("system", "action", "said"),
    [
        ("mariadb", "alter", "ALTER TABLE `"),
        ("postgresql", "alter", "COMMIT"),
        ("postgresql", "vacuum-full", "VACUUM (FULL) "),
    ],
)
def test_a_table_is_made_anew_and_stays_as_it_was(tmp_path, system, action, said):
    need(system)
    end, (event,), recorded_run = run(tmp_path, system, {"at": 3, "action": action})
    assert (end.state, end.reason, event["state"]) == ("complete", None, "ok")
    assert event["output"][-1].startswith(said)
    assert json.loads((end.folder / "trials" / recorded_run.trials[0].name / "trial.json").read_text())["events"] == [
        event
    ]


@pytest.mark.parametrize(
    ("system", "said"),
    [("mariadb", "ALTER TABLE `dbdyno_account` FORCE"), ("postgresql", 'ALTER TABLE "dbdyno_account" DROP COLUMN')],
)
def test_a_table_that_an_event_names_is_the_one_that_is_made_anew(tmp_path, system, said):
    need(system)
    event = {"at": 3, "action": "alter", "table": "dbdyno_account"}
    end, (event,), _ = run(tmp_path, system, event, workload="game")
    assert (end.state, event["state"]) == ("complete", "ok")
    assert any(line.startswith(said) for line in event["output"])


@pytest.mark.parametrize(
    ("system", "event", "words"),
    [
        ("redis", {"sql": "SELECT 1"}, "'redis' takes no SQL; mariadb, "),
        ("sqlite", {"action": "backup"}, "'sqlite' has no action 'backup'; it has none; or give a command"),
        ("redis", {"action": "vacuum-full"}, "'redis' has no action 'vacuum-full'; it has restart, kill"),
        ("mysql://me@127.0.0.1/x", {"action": "dump"}, "action = 'dump': dbdyno did not start"),
    ],
)
def test_what_a_store_cannot_is_refused_before_anything_is_started(system, event, words):
    with pytest.raises(UserError) as refusal:
        resolve(experiment(**KEYS | {"system": system, "events": [event | {"at": 4, "name": "it"}]}).experiment)
    assert f"events: 'it': {words}" in str(refusal.value)


def test_a_tool_that_is_not_installed_is_named(monkeypatch):
    need("mariadb")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UserError, match="mariadb-backup is not installed: apt install mariadb-backup"):
        resolve(experiment(**KEYS | {"system": "mariadb", "events": [{"at": 4, "action": "backup"}]}).experiment)


def test_an_embedded_store_has_commands(tmp_path):
    end, (event,), _ = run(tmp_path, "sqlite", SLEEP)
    assert (end.state, event["state"], event["output"]) == ("complete", "ok", [])
