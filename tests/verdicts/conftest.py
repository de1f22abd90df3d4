"""Gathers the verdicts; where VERDICTS_TABLE names a file, they are written to it as a table, and printed."""

import os
from pathlib import Path

from .table import HEAD, VERDICTS, table_of


def pytest_configure(config):
    config.stash[VERDICTS] = []


def pytest_terminal_summary(terminalreporter, config):
    verdicts = config.stash.get(VERDICTS, [])
    if verdicts and (path := os.environ.get("VERDICTS_TABLE")):
        terminalreporter.write("\n" + HEAD + table_of(verdicts))
        Path(path).write_text(HEAD + table_of(verdicts))
