"""`dbdyno systems install`: what it refuses, and when it shows how far it is."""

import io
from pathlib import Path

import pytest

from dbdyno.cli import systems_install
from dbdyno.cli.console import make_console
from dbdyno.cli.program import run
from dbdyno.systems.packages.cache import Installation
from dbdyno.systems.packages.catalogue import find_package

PACKAGE = find_package("mysql@5.6")


def test_what_is_no_package_is_refused(capsys):
    assert run(["systems", "install", "mysql@4"]) == 2
    assert "There are mysql@5.5" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("on_terminal", "downloaded", "is_drawn"), [(True, True, True), (True, False, False), (False, True, False)]
)
def test_progress_is_drawn_on_a_terminal_if_something_is_downloaded(
    monkeypatch, capsys, on_terminal, downloaded, is_drawn
):
    def install(package, progress):
        if downloaded:
            progress(package.size_bytes)
        return Installation(package, Path("/there"))

    console = make_console(file=io.StringIO(), force_terminal=on_terminal, width=100, color_system=None)
    monkeypatch.setattr(systems_install, "install", install)
    monkeypatch.setattr(systems_install, "make_console", lambda stderr: console)
    systems_install.install_package(PACKAGE)
    assert capsys.readouterr().out == f"mysql@5.6: {PACKAGE.release} is in /there\n"
    assert ("MB" in console.file.getvalue()) == is_drawn
