"""`dbdyno run` as a person has it: on real servers, killed and interrupted in the middle."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dbdyno.leftovers.processes import start_time
from dbdyno.systems import ATTACHED
from helpers import need, wait_until

ALONE = ("--no-observe", "--set", "ceiling=false")
SMALL = ["run", "game", "--seconds", "1", "--warmup", "0", "--rows", "10"]


def test_a_run_ends_with_a_table_a_report_and_zero(dbdyno, fake_load, fake_system):
    status, out, err = dbdyno(*SMALL, "--system", "fake", "--clients", "1,4")
    (folder,) = Path("runs").iterdir()
    assert (status, err) == (0, "")
    assert f"  report   {folder}/report.html\n" in out
    assert "[2/2] fake  game  4 clients       4,000/s  no errors" in out
    assert (folder / "report.html").stat().st_size > 1000
    assert json.loads((folder / "run.json").read_text())["command"] == (
        "dbdyno run game --seconds 1 --warmup 0 --rows 10 --system fake --clients 1,4"
    )


def test_a_signal_while_the_report_is_written_loses_nothing(dbdyno, fake_load, fake_system, monkeypatch):
    def interrupted(run, path):
        raise KeyboardInterrupt

    monkeypatch.setattr("dbdyno.cli.run.write_report", interrupted)
    status, _, err = dbdyno(*SMALL, "--system", "fake", "--clients", "1", "--quiet")
    (folder,) = Path("runs").iterdir()
    assert status == 130
    assert err.startswith("dbdyno: interrupted before the report was written. The run is complete")
    assert f"dbdyno report {folder}" in err
    assert json.loads((folder / "run.json").read_text())["state"] == "complete"
    assert dbdyno("report", str(folder))[0] == 0 and (folder / "report.html").exists()


def test_an_open_loop_that_is_not_followed_is_a_result(dbdyno, fake_load, fake_system):
    status, out, _ = dbdyno(*SMALL, "--system", "fake", "--clients", "4", "--rate", "2000,9000")
    assert status == 0
    assert "fake  game  4 clients  9,000/s       4,000/s  no errors" in out
    assert "fake could not follow 9,000/s." in out and "behind" in out
    details = dbdyno("show", "last", "--details")[1]
    assert "could not follow: 9,000/s offered, 4,000/s achieved" in details
    assert "Latencies: response time, open loop, 2,000/s, 9,000/s." in details
    document = json.loads(dbdyno("show", "last", "--json")[1])
    followed, behind = document["trials"]
    assert (followed["rate"]["per_s"], followed["offered_per_s"], followed["achieved_per_s"]) == (2000, 2000, 2000)
    assert (behind["late"], behind["unfinished"], behind["never_begun"]) == (5000, 5000, 4996)
    for counted in (behind["transaction"], *behind["operations"].values()):
        assert counted.keys() >= {"service_time_us", "response_time_us", "send_lag_us"}


def test_a_rate_search_ends_with_what_it_found(dbdyno, fake_load, fake_system):
    status, out, _ = dbdyno(*SMALL, "--system", "fake", "--clients", "1", "--find-rate", "mean < 5ms")
    document = json.loads(dbdyno("show", "last", "--json")[1])
    (search,) = document["find_rate"]
    assert status == 0 and 760 <= search["found_rate_per_s"] <= 800
    assert "500/s: mean 2.0 ms holds" in out
    assert search["sentence"] in " ".join(out.split())


@pytest.mark.parametrize("rate", ["0", "-1", "1e9"])
def test_a_rate_that_is_none_is_refused(dbdyno, rate):
    status, _, err = dbdyno(*SMALL, "--system", "sqlite", "--rate", rate)
    assert status == 2 and "rate: " in err and "per second" in err
    assert not Path("runs").exists()


def test_the_folder_goes_where_it_is_told(dbdyno, fake_load, fake_system, tmp_path):
    status, _, _ = dbdyno(*SMALL, "--system", "fake", "--out", str(tmp_path / "here"), "--quiet")
    assert status == 0 and len(list((tmp_path / "here").iterdir())) == 1


def test_quiet_says_nothing_where_nothing_is_wrong(dbdyno, fake_load, fake_system):
    assert dbdyno(*SMALL, "--system", "fake", "--quiet") == (0, "", "")


@pytest.mark.parametrize(
    "behaviour", [{"errors": 1}, {"mismatches": 1}, {"wrong_check": True}, {"die": "run"}], ids=str
)
def test_a_wrong_answer_is_status_one(dbdyno, fake_load, fake_system, behaviour):
    fake_load(**behaviour)
    status, out, err = dbdyno(*SMALL, "--system", "fake", "--quiet")
    assert (status, out) == (1, "")
    assert err.startswith("dbdyno: ")


def test_its_own_experiment_file_is_accepted(finished):
    (file,) = Path("runs").glob("*/experiment.toml")
    assert finished("run", str(file), "--quiet")[0] == 0


def test_a_password_is_in_no_file(dbdyno, fake_load, fake_system, monkeypatch):
    monkeypatch.setitem(ATTACHED, "fake", fake_system)
    status, out, err = dbdyno(*SMALL, "--system", "fake://u:hid-den@host/d", "--set", "clients=1")
    assert status == 0 and "hid-den" not in out + err
    files = [path for path in Path("runs").rglob("*") if path.is_file()]
    assert len(files) > 10
    assert not [path for path in files if b"hid-den" in path.read_bytes()]
    (run,) = Path("runs").glob("*/run.json")
    assert "fake://u:***@host/d" in json.loads(run.read_text())["command"]


def test_repetitions_of_real_stores_begin_alike_and_every_row_is_right(dbdyno):
    need("redis")
    small = ("--rows", "100", "--clients", "2", "--seconds", "1", "--warmup", "0", "--repeat", "2", "--quiet")
    assert dbdyno("run", "game", "--system", "redis", "--system", "sqlite", *small) == (0, "", "")
    trials = json.loads(dbdyno("show", "last", "--json")[1])["trials"]
    (run,) = Path("runs").glob("*/run.json")
    order = [name.split("-")[1] for name in json.loads(run.read_text())["trials"]]
    assert set(order) == {"redis", "sqlite"} and order[2:] == order[1::-1]
    for label in ("redis", "sqlite"):
        first, second = (trial for trial in trials if trial["label"] == label)
        assert first["data"] == second["data"] and first["data"] in ("loaded", "restored")
        assert first["load"]["rows"] == second["load"]["rows"] > 0
        assert second["reads_verified"] and {check["ok"] for check in second["checks"]} <= {True, None}


def test_a_batch_is_one_request_of_which_every_row_is_verified(dbdyno):
    need("mariadb", "postgresql", "memcached", "redis")
    names = ("mariadb", "postgresql", "memcached", "redis", "sqlite", "lmdb")
    stores = [part for name in names for part in ("--system", name)]
    small = (
        "--rows",
        "150",
        "--clients",
        "2",
        "--seconds",
        "1",
        "--warmup",
        "0",
        "--set",
        "options.batch=[100]",
        *ALONE,
    )
    assert dbdyno("run", "batch-get", *stores, *small, "--quiet") == (0, "", "")
    assert "rows" in dbdyno("show", "last", "--details")[1]
    trials = json.loads(dbdyno("show", "last", "--json")[1])["trials"]
    for trial in trials:
        assert trial["workload"] == "batch-get?batch=100"
        assert trial["reads_verified"] == 100 * trial["operations"]["get_many"]["count"] > 0


def test_what_was_inserted_is_in_the_table_and_in_every_index_also_after_a_second_trial(dbdyno):
    need("mariadb")
    stores = ("--system", "mariadb", "--system", "sqlite?synchronous=off", "--set", "options.indexes=3", *ALONE)
    small = ("--rows", "50", "--clients", "1,4", "--seconds", "1", "--warmup", "0", "--quiet")
    assert dbdyno("run", "insert-indexes", *stores, *small) == (0, "", "")
    trials = json.loads(dbdyno("show", "last", "--json")[1])["trials"]
    assert [len(trial["checks"]) for trial in trials] == [4, 4] * 2
    for trial in trials:
        for check in trial["checks"]:
            assert check["ok"] is True and check["found"] >= trial["operations"]["insert"]["count"] > 0


def test_inserts_without_an_answer_may_be_there_and_are_counted(tmp_path):
    need("mariadb")
    small = ("--rows", "50", "--clients", "4", "--seconds", "4", "--warmup", "0", "--quiet", "--out", str(tmp_path))
    options = ("--set", "options.indexes=3", "--set", "operation_timeout_seconds=1", *ALONE)
    process = subprocess.Popen(
        [sys.executable, "-m", "dbdyno", "run", "insert-indexes", "--system", "mariadb", *small, *options],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "python")},
        stderr=subprocess.DEVNULL,
    )
    records = wait_until(lambda: list(tmp_path.glob("*/trials/001-*/records.jsonl")))[0]
    wait_until(lambda: '"interval"' in records.read_text())
    server = json.loads(records.with_name("trial.json").read_text())["server_pids"]["mariadb"]
    os.kill(server, signal.SIGSTOP)
    try:
        wait_until(lambda: records.read_text().count('"timeout"') >= 4)
    finally:
        os.kill(server, signal.SIGCONT)
    assert process.wait() == 1
    checks = [record for line in records.open() if (record := json.loads(line))["record"] == "check"]
    assert len(checks) == 4 and len({check["found"] for check in checks}) == 1
    assert all(check["ok"] and "more had no answer" in check["note"] for check in checks)


def test_a_read_is_within_a_transaction_of_the_kind_that_was_asked_for(dbdyno):
    need("mariadb", "postgresql")
    stores = [part for name in ("mariadb", "postgresql", "sqlite") for part in ("--system", name)]
    kinds = ("--set", 'options.transaction=["read-only", "read-write"]', *ALONE)
    small = ("--rows", "50", "--clients", "2", "--seconds", "1", "--warmup", "0", "--quiet")
    assert dbdyno("run", "trx-lifecycle", *stores, *kinds, *small) == (0, "", "")
    trials = json.loads(dbdyno("show", "last", "--json")[1])["trials"]
    for trial in trials:
        steps = {name: operation["operation"] for name, operation in trial["operations"].items()}
        assert steps == {"get": "get", "begin": "begin", "commit": "commit"}
        assert trial["errors"] == 0 and trial["transactions"] > 0 and trial["reads_verified"] > 0


@pytest.fixture
def begun(fake_load, tmp_path):
    """Begin `dbdyno run` on real servers, whose first trial goes on until `tmp_path/go` is there."""
    need("redis", "memcached")
    fake_load(await_file=str(tmp_path / "go"))
    processes = []

    def begin(*arguments):
        process = subprocess.Popen(
            [sys.executable, "-m", "dbdyno", *SMALL, "--quiet", "--out", str(tmp_path / "runs"), *arguments],
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "python")},
            stderr=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        samples = wait_until(lambda: list((tmp_path / "runs").glob("*/trials/001-*/observations.jsonl")))[0]
        wait_until(lambda: samples.read_text().count("\n") >= 2)
        pids = json.loads(samples.with_name("trial.json").read_text())["server_pids"]
        records = samples.with_name("records.jsonl")
        wait_until(lambda: '"interval"' in records.read_text())
        pids["client"] = json.loads(records.read_text().splitlines()[0])["pid"]
        return process, pids, samples.parents[2]

    yield begin
    for process in processes:
        process.kill()
        process.wait()
        process.stderr.close()


@pytest.mark.parametrize(
    ("behaviour", "status", "quiet"), [({}, 0, ()), ({"errors": 1}, 1, ()), ({"die": "run"}, 1, ("--quiet",))], ids=str
)
def test_a_run_goes_on_when_nobody_reads_any_more(fake_load, tmp_path, behaviour, status, quiet):
    fake_load(await_file=str(tmp_path / "go"), **behaviour)
    options = ("--system", "sqlite", "--clients", "1,2", "--set", "host=false", *ALONE, "--out", str(tmp_path))
    process = subprocess.Popen(
        [sys.executable, "-m", "dbdyno", *SMALL, *options, *quiet],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "python")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert quiet or process.stdout.readline().startswith(b"2 trials")
    process.stdout.close()
    (tmp_path / "go").touch()
    assert process.wait() == status
    (report,) = tmp_path.glob("*/report.html")
    assert states(report.parent) == ["failed" if quiet else "complete"] * 2
    assert json.loads(report.with_name("run.json").read_text())["state"] == ("failed" if behaviour else "complete")


def states(folder):
    return [json.loads(path.read_text())["state"] for path in sorted(folder.glob("trials/*/trial.json"))]


def data_directory(pid):
    return Path(os.readlink(f"/proc/{pid}/cwd"))


def test_kill_minus_nine_of_dbdyno_leaves_no_server_and_a_run_that_can_be_shown(begun, dbdyno):
    process, pids, folder = begun("--system", "redis", "--clients", "1,2")
    directory = data_directory(pids["redis"])
    assert directory.is_dir()
    process.kill()
    process.wait()
    wait_until(lambda: not any(start_time(pid) for pid in pids.values()))
    wait_until(lambda: not directory.exists())
    assert json.loads((folder / "run.json").read_text())["state"] == "running"
    status, out, _ = dbdyno("show", str(folder))
    assert status == 1 and "redis" in out


def test_a_server_killed_in_a_trial_fails_it_and_the_others_go_on(begun, tmp_path):
    process, pids, folder = begun("--system", "redis", "--system", "memcached", "--clients", "1,2")
    os.kill(pids["redis"], signal.SIGKILL)
    (tmp_path / "go").touch()
    _, err = process.communicate()
    assert process.returncode == 1
    assert states(folder) == ["failed", "complete", "complete", "complete"]
    assert "redis was killed by SIGKILL during the trial" in err
    assert (folder / "report.html").exists()


def test_a_load_client_killed_in_a_trial_fails_it_and_the_others_go_on(begun, tmp_path):
    process, pids, folder = begun("--system", "redis", "--clients", "1,2")
    os.kill(pids["client"], signal.SIGKILL)
    (tmp_path / "go").touch()
    _, err = process.communicate()
    assert process.returncode == 1
    assert states(folder) == ["failed", "complete"]
    assert "dbdyno-load was killed by SIGKILL before its end" in err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_in_order_with_what_was_recorded(begun, number):
    process, pids, folder = begun("--system", "redis", "--clients", "1,2")
    directory = data_directory(pids["redis"])
    process.send_signal(number)
    process.communicate()
    assert process.returncode == 130
    assert states(folder) == ["interrupted"]
    assert json.loads((folder / "run.json").read_text())["state"] == "interrupted"
    assert (folder / "report.html").exists()
    assert not start_time(pids["redis"]) and not directory.exists()
