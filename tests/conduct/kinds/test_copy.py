"""A run of dump-restore: what it records, and that a copy which differs fails the trial."""

import pytest

from dbdyno.conduct.kinds.copy import tool_of
from dbdyno.conduct.listener import Listener
from dbdyno.conduct.run import conduct
from dbdyno.errors import UserError
from dbdyno.experiment.model import Experiment
from dbdyno.results.read import read_run
from dbdyno.systems.copier import Call, Stage, Tool
from dbdyno.systems.embedded.sqlite import SQLite
from dbdyno.systems.embedded.sqlite_copier import SQLiteCopier
from dbdyno.systems.mysql.copier import MySQLCopier
from dbdyno.systems.mysql.mariadb import MariaDB
from helpers import experiment, need, workload

KEYS = {"workload": "dump-restore", "system": "sqlite", "rows": 300, "clients": [1], "options": {"tables": 3}}
KEYS |= {"host": False, "warmup_seconds": 0}


def run(tmp_path, **keys):
    end = conduct(experiment(**KEYS | keys), "dbdyno run dump-restore", tmp_path, Listener())
    return end, read_run(end.folder)


def need_tool(system, tool="sql"):
    if reason := system.missing_tool(tool):
        pytest.skip(reason)


def test_a_run_has_speeds_sizes_and_a_copy_that_is_the_same(tmp_path):
    need_tool(SQLite(experiment(**KEYS).experiment.system[0]))
    end, recorded_run = run(tmp_path, options={"tables": 3, "tool": ["sql", "files"]})
    assert (end.state, end.reason) == ("complete", None)
    for trial, tool in zip(recorded_run.trials, ("sql", "files"), strict=True):
        copy = trial.about["copy"]
        assert (copy["tool"], copy["workers"], copy["rows"], copy["identical"]) == (tool, 1, 900, True)
        assert copy["dump_bytes"] > 900 * 190
        assert copy["dump"]["rows_per_s"] == pytest.approx(900 / copy["dump"]["seconds"])
        assert [table["rows"] for table in copy["tables"]] == [300] * 3
        assert {operation.name: operation.service_time.count for operation in trial.recorded.operations} == {
            "dump": 1,
            "restore": 1,
        }
        assert all(check["ok"] for check in trial.recorded.checks) and len(trial.recorded.checks) == 3


def test_servers_and_host_are_observed_while_tools_run(tmp_path):
    need("mariadb")
    _, recorded_run = run(tmp_path, system="mariadb")
    (trial,) = recorded_run.trials
    assert [used.process for used in trial.usage] == ["mariadb"] and trial.facts.server_pids.keys() == {"mariadb"}
    begin, end = trial.recorded.window_unix_s
    assert begin - 1 < trial.observations.at_unix_s[0] <= trial.observations.at_unix_s[-1] < end + 1
    written = trial.observations.columns["store.mariadb.innodb_log_written_bytes_total"]
    assert written[-1] - written[0] > 900 * 190


def test_without_observation_a_copy_is_the_same(tmp_path):
    need_tool(SQLite(experiment(**KEYS).experiment.system[0]))
    end, recorded_run = run(tmp_path, observe=False)
    assert end.state == "complete" and recorded_run.trials[0].observations is None


def test_workers_and_tables_are_each_a_call(tmp_path):
    need("mariadb")
    end, recorded_run = run(tmp_path, system="mariadb", options={"tables": 3, "workers": 2})
    assert (end.state, end.reason) == ("complete", None)
    copy = recorded_run.trials[0].about["copy"]
    assert copy["workers"] == 2 and copy["dump"]["server_cpu_s"] >= 0
    assert all(table["dump_s"] > 0 and table["restore_s"] > 0 and table["dump_bytes"] for table in copy["tables"])
    assert "password" not in (end.folder / "trials" / recorded_run.trials[0].name / "trial.json").read_text()


def test_tables_are_copied_from_one_server_into_another(tmp_path):
    need("mariadb")
    need("mysql@5.6")
    options = {"tables": 2, "workers": 2}
    end, recorded_run = run(tmp_path, system="copy(mariadb, mysql@5.6)", options=options)
    assert (end.state, end.reason) == ("complete", None)
    (trial,) = recorded_run.trials
    copy = trial.about["copy"]
    assert copy["identical"] and copy["rows"] == 600 and copy["programs"] == ["mariadb-dump", "mariadb"]
    assert trial.facts.server_pids.keys() == {"copy-1", "copy-2"}
    assert {used.process for used in trial.usage} == {"copy-1", "copy-2"}
    assert trial.facts.known_servers[1].version.startswith("5.6")


def test_a_version_that_the_other_does_not_read_fails_the_trial_in_the_tools_words(tmp_path):
    need("mariadb")
    need("mysql@5.6")
    end, _ = run(tmp_path, system="copy(mysql@5.6, mariadb)")
    assert end.state == "failed" and "mariadb-dump ended with status" in end.reason


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE {table} SET pad = 'y' || substr(pad, 2) WHERE id = 7", "row 7, column 4: \"'y"),
        ("DELETE FROM {table} WHERE id = 300", "row 300 is missing"),
        (
            "INSERT INTO {table} SELECT 301, k, c, pad FROM {table} WHERE id = 7",
            "row 301 is in the copy once too often",
        ),
        ("DROP TABLE {table}", "the table is missing"),
        ("CREATE INDEX more ON {table} (k, id)", "is not in the original"),
    ],
)
def test_a_copy_that_differs_fails_the_trial_and_is_named(tmp_path, monkeypatch, statement, said):
    need_tool(SQLite(experiment(**KEYS).experiment.system[0]))

    def restore(self, tables, folder, real=SQLiteCopier.restore):
        spoil = Call([self._program, str(self._copy), statement.format(table=tables[1])])
        return [*real(self, tables, folder), Stage([spoil])]

    monkeypatch.setattr(SQLiteCopier, "restore", restore)
    end, recorded_run = run(tmp_path)
    (trial,) = recorded_run.trials
    assert end.state == trial.state == "failed"
    assert f"the copy differs in 1 of 3 tables; {trial.about['copy']['tables'][1]['table']}: " in trial.reason
    assert said in trial.reason
    assert trial.about["copy"]["identical"] is False
    assert [check["ok"] for check in trial.recorded.checks] == [True, False, True]


def test_a_tool_that_fails_fails_the_trial_in_its_words(tmp_path, monkeypatch):
    need_tool(SQLite(experiment(**KEYS).experiment.system[0]))
    wrong = lambda self, tables, folder: [Stage([Call([self._program, str(self._copy), "SELEC 1"])])]  # noqa: E731
    monkeypatch.setattr(SQLiteCopier, "restore", wrong)
    end, recorded_run = run(tmp_path)
    assert end.state == "failed" and "sqlite3 ended with status 1" in end.reason and "SELEC" in end.reason
    assert recorded_run.trials[0].about["copy"]["dump"]["seconds"] > 0
    assert recorded_run.trials[0].about["copy"]["identical"] is None


def test_repetitions_are_prepared_each_for_itself(tmp_path):
    need_tool(SQLite(experiment(**KEYS).experiment.system[0]))
    end, recorded_run = run(tmp_path, repeat=2)
    assert end.state == "complete" and [trial.about["repeat"] for trial in recorded_run.trials] == [1, 2]


def test_tool_and_workers_are_of_the_options():
    made = Experiment.model_validate(
        KEYS | {"seconds": 1, "options": {"tables": 2, "workers": [1, 4], "tool": "files"}}
    )
    assert [tool_of(workload) for workload in made.workload] == [("files", 1), ("files", 4)]
    assert tool_of(workload("dump-restore")) == ("sql", 1)


@pytest.mark.parametrize(
    ("keys", "what"),
    [
        ({"clients": [1, 2]}, "clients: 'dump-restore'"),
        ({"rate": 5}, "rate: 'dump-restore'"),
        ({"system": "redis"}, "which 'redis' cannot do; mariadb, mysql, postgresql, sqlite, copy can"),
        ({"system": "mysql://me@localhost/test"}, "give one that dbdyno starts"),
        ({"options": {"tool": "mydumper"}}, "options.tool: 'mydumper' does not copy 'sqlite'; give one of sql, files"),
        ({"options": {"tool": "cp"}}, "give one of sql, files, mydumper"),
        ({"options": {"workers": 2}}, "options.workers: 'sqlite' is copied by one worker"),
        ({"options": {"workers": 0}}, "give 1 to 64"),
        ({"options": {"tables": 17}}, "give 1 to 16"),
    ],
)
def test_what_it_cannot_do_is_refused(tmp_path, fake_load, keys, what):
    with pytest.raises((UserError, ValueError), match=what):
        run(tmp_path, **keys)


def test_a_tool_that_is_not_there_is_refused_with_its_package(tmp_path, fake_load, monkeypatch):
    need("mariadb")
    monkeypatch.setattr(MariaDB, "copy_tools", {"mydumper": Tool(("no-such-dumper",), "the-package")})
    with pytest.raises(UserError, match="no-such-dumper is not installed: apt install the-package"):
        run(tmp_path, system="mariadb", options={"tool": "mydumper"})


def test_a_server_that_does_not_answer_fails_the_trial(tmp_path, monkeypatch):
    need("mariadb")

    def count(self, table):
        raise self.error[0](2013, "Lost connection")

    monkeypatch.setattr(MySQLCopier, "count", count)
    end, _ = run(tmp_path, system="mariadb")
    assert end.state == "failed" and "Lost connection" in end.reason
