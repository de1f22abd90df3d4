"""A command loads only what it needs: help, a wrong option, the lists and a table answer soon.

No test here measures time: each names the heavy libraries that a command must not load.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from dbdyno.cli.commands import COMMANDS
from dbdyno.cli.parser import PARSERS, load_command

PYTHON = str(Path(__file__).parents[2] / "python")
DRIVERS = {"cassandra", "duckdb", "psycopg", "pymemcache", "pymongo", "pymysql", "redis"}
RARE = {"asyncio", "cryptography", "http.client", "jinja2", "kaleido", "plotly", "pyarrow", "scipy", "ssl"} | DRIVERS
HEAVY = {"numpy", "pydantic", "rich"} | RARE
OF_SERVERS = {"hashlib", "secrets", "tarfile", "xml.etree.ElementTree", "dbdyno.systems.packages.install"}
LOADED = "import json, sys, dbdyno.cli.program as p; p.run({}); json.dump(sorted(sys.modules), sys.stderr)"


def modules_of(arguments: list[str], folder: Path) -> set[str]:
    """Return the modules that a Python has loaded once it has run a command."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED.format(arguments)],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": PYTHON},
    )
    return set(json.loads(done.stderr.splitlines()[-1]))


def test_every_command_is_declared_and_has_its_module():
    assert set(PARSERS) == set(COMMANDS)
    assert all(callable(load_command(name)) for name in PARSERS)
    assert all(callable(load_command(f"systems_{name}")) for name in PARSERS["systems"].commands)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_function_of_a_command_takes_what_the_parser_gives(name):
    given = {parameter.name for parameter in PARSERS[name].params if parameter.expose_value}
    code = load_command(name)
    code = getattr(code, "__wrapped__", code).__code__
    named = set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    takes_others = code.co_flags & 0x08
    assert named <= given and (takes_others or named == given)


def test_a_command_is_called_with_its_options(monkeypatch):
    calls = []
    monkeypatch.setattr("dbdyno.cli.show.command", lambda **options: calls.append(options) or 1)
    assert click.Context(PARSERS["show"]).invoke(PARSERS["show"].callback, run="last", as_json=True) == 1
    assert calls == [{"run": "last", "as_json": True}]


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["--version"], ["--nope"], *([name, "--help"] for name in COMMANDS), ["systems", "check", "--nope"]],
    ids=" ".join,
)
def test_help_and_a_wrong_option_load_no_library_and_no_command(arguments, tmp_path):
    loaded = modules_of(arguments, tmp_path)
    assert "dbdyno.cli.commands" in loaded
    assert not (HEAVY | {"ctypes", "tomllib"}) & loaded
    assert not {f"dbdyno.cli.{name}" for name in COMMANDS} & loaded


@pytest.mark.parametrize("name", ["list", "systems"])
def test_a_list_loads_no_driver_and_no_arithmetic(name, tmp_path):
    loaded = modules_of([name], tmp_path)
    assert "dbdyno.systems" in loaded
    assert not (HEAVY - {"rich"}) & loaded and "dbdyno.conduct" not in loaded
    # Types for the type checker, and what only servers, their files and installed packages need.
    assert not {"dbdyno.contract", "dbdyno.results.json_types", *OF_SERVERS} & loaded


def test_a_table_loads_no_driver_no_plots_and_no_solver(finished, tmp_path):
    loaded = modules_of(["show", str(Path("runs").resolve() / next(Path("runs").iterdir()).name)], tmp_path)
    assert "dbdyno.report.summary" in loaded
    assert not (RARE | {"multiprocessing", "numpy.ma", "pydantic_core", "dbdyno.report.core.page"}) & loaded
    assert "dbdyno.systems" not in loaded
