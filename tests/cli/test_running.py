"""A run is shown as it goes on, and the command that was typed is recorded with it, without its passwords."""

import io
import json

from rich.console import Console

from dbdyno.cli.running import exit_status, run_experiment
from helpers import experiment


def test_what_was_typed_is_recorded_and_what_happens_shown(fake_load, fake_system, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["dbdyno", "run", "x y", "--system", "mysql://u:hidden@h/d"])
    console = Console(file=io.StringIO(), width=200)
    end = run_experiment(experiment(clients=[1], seconds=1), tmp_path, console, quiet=False)
    command = json.loads((end.folder / "run.json").read_text())["command"]
    assert command == "dbdyno run 'x y' --system 'mysql://u:***@h/d'"
    assert "[1/1] fake  game  1 client" in console.file.getvalue()
    assert exit_status(end) == 0
