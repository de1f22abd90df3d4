"""A sysbench whose server does not answer is ended: it would wait for ever."""

import io
import os

import pytest

from dbdyno.load_python import signals
from dbdyno.load_python.failure import Ended
from dbdyno.load_python.records import Records
from dbdyno.load_sysbench import process, program
from dbdyno.load_sysbench.process import Quiet, environment_for, start
from dbdyno.load_sysbench.run import Run
from fakes import hostile
from helpers import need_program
from load_sysbench.conftest import STORE, plan_of
from load_sysbench.test_plan import read


@pytest.fixture
def plan(monkeypatch):
    """Return the plan of a trial on a server that takes connections and says nothing."""
    need_program("sysbench", "sysbench")
    monkeypatch.setattr(process, "QUIET_S", 1.0)
    with hostile.server(hostile.silent) as port:
        yield read(plan_of(STORE | {"address": {"host": "127.0.0.1", "port": port}}))


@pytest.mark.parametrize("verb", ["prepare", "cleanup"])
def test_a_server_that_says_nothing_ends_what_is_done_once(plan, verb):
    with pytest.raises(Ended, match=f"timeout: sysbench oltp_read_write {verb} waited 1 s for the server"):
        program._do(plan, verb, "")


def test_a_server_that_says_nothing_ends_a_run_that_has_not_begun(plan):
    with pytest.raises(Ended, match="timeout: sysbench oltp_read_write run waited 1 s for the server"):
        Run(plan, "", Records(io.StringIO())).execute()


def test_whoever_uses_the_processor_goes_on(monkeypatch):
    monkeypatch.setattr(process, "QUIET_S", 30.0)
    busy, output = start(["sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; cat"], "said\n", "oltp")
    with Quiet(busy) as quiet:
        assert output.read() == "said\n"
    assert busy.wait() == 0
    quiet.check("it")


def test_a_signal_ends_it(monkeypatch):
    monkeypatch.setattr(signals, "_came", [2])
    silent, output = start(["sleep", "600"], "", "oltp")
    with Quiet(silent):
        assert output.read() == ""
    assert os.WTERMSIG(os.waitpid(silent.pid, 0)[1]) == 15


def test_a_script_finds_the_files_beside_it_wherever_dbdyno_runs(tmp_path, monkeypatch, capsys):
    need_program("sysbench", "sysbench")
    monkeypatch.chdir("/")
    (tmp_path / "shared.lua").write_text("return function() print('from beside') end\n")
    (tmp_path / "main.lua").write_text("local say = require('shared')\nfunction prepare() say() end\n")
    program._do(read(plan_of(STORE, script=str(tmp_path / "main.lua"))), "prepare", "")
    assert "from beside" in capsys.readouterr().err


def test_a_shipped_script_is_looked_for_where_sysbench_does(monkeypatch):
    monkeypatch.setenv("LUA_PATH", "/mine/?.lua;;")
    assert environment_for("oltp_read_write")["LUA_PATH"] == "/mine/?.lua;;"
    assert environment_for("/x/a.lua")["LUA_PATH"] == "/x/?.lua;/mine/?.lua;;"
