"""Scripts are looked for before anything is started; a whole trial by sysbench is a trial like others."""

import pytest

from dbdyno.conduct.kinds import kind_of, program
from dbdyno.conduct.listener import Listener
from dbdyno.conduct.resolve import resolve
from dbdyno.conduct.run import conduct
from dbdyno.errors import UserError
from dbdyno.report.document import document
from dbdyno.results.read import read_run
from helpers import experiment, need, need_program, system, workload


def of(script, **keys):
    return experiment(
        **({"workload": "sysbench", "options": {"script": script}, "system": "mariadb"} | keys)
    ).experiment


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("cpu", "drives no store"),
        ("/nowhere/mine.lua", "no such file"),
        ("mine.lua", "no such file"),
        ("oltp_nothing", "sysbench has no script 'oltp_nothing'"),
    ],
)
def test_a_script_that_is_not_there_is_refused(script, why):
    need_program("sysbench", "sysbench")
    with pytest.raises(UserError, match=why):
        resolve(of(script))


def test_without_sysbench_it_is_said_how_to_get_it(monkeypatch):
    monkeypatch.setattr(program.shutil, "which", lambda name: None)
    driven, mariadb = workload("sysbench", script="oltp_nothing"), system("mariadb")
    assert "apt install sysbench" in kind_of(driven).missing(driven, mariadb)
    assert kind_of(workload("game")).missing(workload("game"), mariadb) is None
    # Without sysbench nobody can tell whether it has the script.
    kind_of(driven).refuse(of("oltp_nothing"), driven)


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ({"system": "redis"}, "needs to be driven by sysbench, which 'redis' cannot do; mariadb"),
        ({"client": "pymysql"}, "is driven by sysbench; leave 'pymysql' out"),
        ({"rate": 100}, "closed loop"),
    ],
)
def test_what_sysbench_does_not_do_is_refused_when_it_is_read(keys, why):
    need_program("sysbench", "sysbench")
    with pytest.raises(UserError, match=why):
        resolve(of("oltp_read_write", **keys))


def test_a_trial_by_sysbench_is_observed_judged_and_said_to_be_not_verified(tmp_path):
    need("mariadb")
    need_program("sysbench", "sysbench")
    keys = {"workload": "sysbench", "system": "mariadb", "rows": 100, "clients": [2], "host": False}
    end = conduct(experiment(**keys, options={"script": "oltp_point_select"}), "", tmp_path, Listener())
    assert end.state == "complete"
    json_document = document(read_run(end.folder))
    (trial,) = json_document["trials"]
    assert trial["client"] == "sysbench" and trial["transactions"] > 0 and trial["verdict"]
    assert trial["client_cpu_us_per_transaction"] > 0 and trial["server_cpu_us_per_transaction"] > 0
    assert any("not verified, timed by sysbench" in line for line in json_document["fairness"]["short"])
