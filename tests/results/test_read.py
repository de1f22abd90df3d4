"""Run folders are read back to the figures that were written; one cut short anywhere still tells what it can."""

import json

import pytest

from dbdyno.errors import UserError
from dbdyno.results.read import read_run, usage_of_servers
from synthetic_run import SYSTEMS, System, write_run

MARIADB = SYSTEMS[2]


@pytest.fixture
def folder(tmp_path):
    return write_run(tmp_path / "run", (MARIADB,), clients=(1, 4), seconds=3)


def records_of(folder, trial=0):
    return sorted(folder.glob("trials/*/records.jsonl"))[trial]


def edit(path, change):
    about = json.loads(path.read_text())
    change(about)
    path.write_text(json.dumps(about))


def test_figures_leave_the_warm_up_out(folder):
    trial = read_run(folder).trials[1]
    recorded = trial.recorded
    written = [json.loads(line) for line in records_of(folder, 1).read_text().splitlines()]
    counts = [record["transactions"]["completed"] for record in written if record["record"] == "interval"]
    assert len(recorded.intervals) == 4 and len(recorded.measured) == 3
    assert recorded.completed == sum(counts[1:]) == recorded.service_time.count
    assert recorded.throughput_per_s == pytest.approx(sum(counts[1:]) / 3)
    assert [operation.service_time.count for operation in recorded.operations] == [recorded.completed] * 3
    assert (trial.state, trial.warnings, trial.label) == ("complete", (), "mariadb")


def test_a_last_interval_cut_short_counts_with_its_length(folder):
    path = records_of(folder)
    lines = path.read_text().splitlines()
    last = max(number for number, line in enumerate(lines) if '"interval"' in line)
    lines[last] = lines[last].replace('"seconds":1.0', '"seconds":0.25')
    path.write_text("\n".join(lines) + "\n")
    recorded = read_run(folder).trials[0].recorded
    assert recorded.seconds == pytest.approx(2.25)
    assert recorded.throughput_per_s == pytest.approx(recorded.completed / 2.25)


def test_the_preparation_is_read(folder):
    (preparation,) = read_run(folder).preparations.values()
    assert (preparation.name, preparation.rows, preparation.load_seconds) == ("01-mariadb", 40_000, 0.8)


def test_server_usage_is_that_of_the_measured_seconds(folder):
    (server,) = usage_of_servers(read_run(folder).trials[0])
    seen = read_run(folder).trials[0].observations.columns
    cpu_s = seen["process.mariadb.cpu_user_s_total"] + seen["process.mariadb.cpu_system_s_total"]
    assert server.cores == pytest.approx((cpu_s[4] - cpu_s[1]) / 3)


def test_not_a_run(tmp_path):
    with pytest.raises(UserError, match="is not a run"):
        read_run(tmp_path)
    with pytest.raises(UserError, match="is not a run"):
        read_run(tmp_path / "nowhere")


def test_another_format_is_named(folder):
    edit(folder / "run.json", lambda about: about.update(format=7))
    with pytest.raises(UserError, match=r"format 7.*reads format 2"):
        read_run(folder)


@pytest.mark.parametrize("cut", [1, 40, 400])
def test_a_last_line_cut_by_a_kill_is_ignored(folder, cut):
    path = records_of(folder)
    path.write_bytes(path.read_bytes()[:-cut])
    trial = read_run(folder).trials[0]
    assert trial.recorded.completed > 0
    # A cut of one byte takes only the newline: the record is whole.
    assert (trial.state == "interrupted") == (cut > 1)


def test_a_folder_cut_anywhere_is_read(folder):
    path = records_of(folder)
    whole = path.read_bytes()
    for size in range(0, len(whole), max(1, len(whole) // 40)):
        path.write_bytes(whole[:size])
        trial = read_run(folder).trials[0]
        assert trial.state == "interrupted" and "cut short" in trial.reason


def test_a_trial_without_a_folder_was_not_reached(tmp_path):
    folder = write_run(tmp_path / "run", (MARIADB,), (1, 2), faults={("mariadb", 2): "not-reached"})
    assert [trial.state for trial in read_run(folder).trials] == ["complete", "not reached"]


def test_a_killed_run(tmp_path):
    folder = write_run(tmp_path / "run", (MARIADB,), (1, 2), faults={("mariadb", 2): "killed"})
    run = read_run(folder)
    assert run.about["state"] == "running"
    assert run.trials[1].state == "interrupted"
    assert run.trials[1].recorded.completed > 0


def test_a_trial_dbdyno_did_not_live_to_close(folder):
    edit(records_of(folder).with_name("trial.json"), lambda about: about.update(state="running"))
    trial = read_run(folder).trials[0]
    assert (trial.state, trial.reason) == ("interrupted", "dbdyno was killed before it closed this trial")


def test_damage_in_the_middle_names_file_and_line(folder):
    path = records_of(folder)
    lines = path.read_text().splitlines()
    lines[3] = lines[3][:50]
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(UserError, match=r"records\.jsonl, line 4: is not JSON"):
        read_run(folder)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"reads_verified"', '"reads_verifyed"', "lacks 'reads_verified'"),
        ('"transactions":{', '"transactions":[],"was":{', "line 3"),
        ('"buckets":[', '"buckets":[99999,1,', "histogram"),
    ],
)
def test_records_that_are_not_the_contracts_name_file_and_line(folder, old, new, said):
    path = records_of(folder)
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(UserError, match=said):
        read_run(folder)


def test_what_a_killed_trial_used_is_taken_from_what_was_observed(tmp_path):
    folder = write_run(tmp_path / "run", (MARIADB,), (2,), faults={("mariadb", 2): "killed"})
    (server,) = usage_of_servers(read_run(folder).trials[0])
    assert server.resident_bytes > 0 and server.cores > 0


def test_other_files_damaged_are_named(folder):
    records_of(folder).with_name("trial.json").write_text('{"process": 1}\n{"process": 1}\n')
    with pytest.raises(UserError, match=r"trial\.json"):
        read_run(folder)


def test_what_was_observed_is_read_only_when_it_is_asked_for(folder):
    records_of(folder).with_name("observations.parquet").write_bytes(b"damaged")
    trial = read_run(folder).trials[0]
    with pytest.raises(UserError, match=r"observations\.parquet"):
        _ = trial.observations


def test_an_older_folder_is_refused_with_its_version(folder):
    edit(folder / "run.json", lambda about: about.update(format=1, dbdyno="0.0.9"))
    with pytest.raises(UserError, match=r"format 1.*written by dbdyno 0\.0\.9"):
        read_run(folder)


def test_many_bytes_are_read_by_several_processes_to_the_same_figures(folder, monkeypatch):
    alone = [trial.recorded.throughput_per_s for trial in read_run(folder).trials]
    monkeypatch.setattr("dbdyno.results.read.PARALLEL_ABOVE_BYTES", 0)
    assert [trial.recorded.throughput_per_s for trial in read_run(folder).trials] == alone


def test_an_error_in_one_of_several_processes_is_told(folder, monkeypatch):
    monkeypatch.setattr("dbdyno.results.read.PARALLEL_ABOVE_BYTES", 0)
    records_of(folder, 1).write_text("nonsense\n{}\n")
    with pytest.raises(UserError, match="line 1"):
        read_run(folder)


def test_an_embedded_store_has_no_server(tmp_path):
    folder = write_run(tmp_path / "run", (System("lmdb", "D1", "sync=full", 20, 50_000),), (2,))
    assert usage_of_servers(read_run(folder).trials[0]) == ()


def test_what_was_restored_was_loaded_in_the_preparation_it_names(folder):
    restored = folder / "preparations" / "02-mariadb"
    restored.mkdir()
    (restored / "preparation.json").write_text(json.dumps({"data": "restored", "loaded_in": "01-mariadb"}))
    edit(folder / "preparations/01-mariadb/preparation.json", lambda about: about.update(loaded_in="01-mariadb"))
    preparations = read_run(folder).preparations
    assert [(preparation.rows, preparation.load_seconds) for preparation in preparations.values()] == [
        (40_000, 0.8)
    ] * 2
