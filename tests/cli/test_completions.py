"""Each shell takes the script, and completes with it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import need_program

PYTHON = str(Path(__file__).parents[2] / "python")
ASK = {
    "bash": "source {script}; COMP_WORDS=(dbdyno comp); COMP_CWORD=1; _dbdyno_completion dbdyno; "
    "printf '%s\\n' ${{COMPREPLY[@]}}",
    "fish": "source {script}; complete --do-complete 'dbdyno comp'",
    "zsh": "autoload -U compinit; compinit -u -D; source {script}; echo $_comps[dbdyno]",
}
OFFERED = ["compare", "completions"]
ANSWERS = {"bash": OFFERED, "fish": OFFERED, "zsh": ["_dbdyno_completion"]}


@pytest.mark.parametrize("shell", ASK)
def test_a_shell_completes_with_its_script(shell, dbdyno, tmp_path):
    need_program(shell, shell)
    status, script, err = dbdyno("completions", shell)
    assert (status, err) == (0, "")
    (tmp_path / "script").write_text(script)
    program = tmp_path / "dbdyno"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m dbdyno "$@"\n')
    program.chmod(0o755)
    environment = {**os.environ, "PYTHONPATH": PYTHON, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    command = [shell, "-c", ASK[shell].format(script=tmp_path / "script")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    # fish has what a command does behind its name.
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == ANSWERS[shell]


def test_another_shell_is_refused(dbdyno):
    status, _, err = dbdyno("completions", "tcsh")
    assert status == 2 and "'tcsh' is not one of 'bash', 'zsh', 'fish'" in err
