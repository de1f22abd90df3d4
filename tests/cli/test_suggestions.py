"""A shell's suggestions, asked for as the shells' scripts do."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PYTHON = str(Path(__file__).parents[2] / "python")


def offered(words: list[str], folder: Path) -> list[str]:
    """Return what bash is offered for the last of these words, as `type,value`."""
    environment = {**os.environ, "PYTHONPATH": PYTHON, "_DBDYNO_COMPLETE": "bash_complete"}
    environment |= {"COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    command = [sys.executable, "-m", "dbdyno"]
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["dbdyno", "comp"], ["plain,compare", "plain,completions"]),
        (["dbdyno", "systems", "che"], ["plain,check"]),
        (["dbdyno", "run", "--until"], ["plain,--until-flat"]),
        (["dbdyno", "run", "quick"], ["plain,quickstart"]),
        (["dbdyno", "run", "./mine"], ["file,./mine"]),
        (["dbdyno", "show", ""], ["plain,last", "plain,2026-02-02-b", "plain,2026-01-01-a"]),
        (["dbdyno", "compare", "last", "2026-01"], ["plain,2026-01-01-a"]),
        (["dbdyno", "show", "/srv"], ["dir,/srv"]),
        (["dbdyno", "completions", "f"], ["plain,fish"]),
    ],
    ids=" ".join,
)
def test_a_shell_is_offered_commands_options_experiments_and_runs(words, expected, tmp_path):
    for name in ("2026-01-01-a", "2026-02-02-b"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "run.json").write_text("{}")
    (tmp_path / "runs" / "no-run").mkdir()
    words = [word or "''" for word in words]
    assert [item for item in offered(words, tmp_path) if not item.startswith("plain,--color")] == expected
