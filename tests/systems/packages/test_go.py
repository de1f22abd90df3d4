"""A small program of our own, which go builds as it builds any other."""

import shutil
import subprocess
from dataclasses import replace

import pytest

from dbdyno.errors import RunFailed, UserError
from dbdyno.systems.packages import download, go
from dbdyno.systems.packages.cache import CACHE_VARIABLE, cache_folder
from dbdyno.systems.packages.catalogue import PACKAGES
from dbdyno.systems.packages.download import sum_of
from dbdyno.systems.packages.go import build
from dbdyno.systems.packages.install import install
from dbdyno.systems.packages.package import Package


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return a package whose source lies here; the cache directory is one of the test's own."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(go, "__file__", str(tmp_path / "go.py"))
    source = tmp_path / "little"
    source.mkdir()
    (source / "go.mod").write_text("module little\n\ngo 1.20\n")
    (source / "go.sum").write_text("")
    (source / "main.go").write_text('package main\n\nfunc main() { println("little server") }\n')
    digest = sum_of(source / "go.sum")
    return Package("little", "1", "1.0", "go", "little@v1", "little/go.sum", digest, 1, (), {"little": "bin/little"})


def test_what_was_built_runs_and_what_it_was_built_with_is_gone(package):
    if not shutil.which("go"):
        pytest.skip("go is not installed")
    there = install(package, lambda _: None)
    ran = subprocess.run(there.program("little"), capture_output=True, text=True, check=True)
    assert ran.stderr == "little server\n"
    assert list((cache_folder() / "downloads").iterdir()) == []


@pytest.mark.parametrize(
    ("version", "said"),
    [(None, "and go is not installed"), ("1.19.8", "and go 1.19.8 is too old"), ("1.20", None), ("1.26.8", None)],
)
def test_which_go_is_needed_and_where_it_is_got_is_said(package, monkeypatch, version, said):
    monkeypatch.setattr(go, "_version_of_go", lambda: version)
    wanted = f"little@1 is built by go 1.20 or newer, {said}: get it from https://go.dev/dl" if said else None
    assert go.missing_go(package) == wanted


def test_without_go_nothing_is_begun(package, tmp_path, monkeypatch):
    monkeypatch.setattr(go.shutil, "which", lambda _: None)
    with pytest.raises(UserError, match="go is not installed"):
        build(package, tmp_path / "folder", lambda _: None)
    assert not (tmp_path / "folder").exists()


def test_another_list_of_sums_than_was_pinned_is_refused(package, tmp_path):
    with pytest.raises(RunFailed, match="not the list of sums that was pinned"):
        build(replace(package, sha256="0" * 64), tmp_path / "folder", lambda _: None)


def test_the_lists_of_the_catalogue_are_those_that_were_pinned():
    packages = [package for package in PACKAGES.values() if package.client == "go"]
    assert packages
    for package in packages:
        assert sum_of(download.Path(go.__file__).parent / package.file) == package.sha256


def test_what_is_built_is_the_main_that_lies_there_or_else_the_command_in_the_module(package, tmp_path):
    (tmp_path / "bare").mkdir()
    there = replace(package, coordinates="example.com/little/cmd/server@v1")
    assert go._command_of(there, tmp_path / "little") == "."
    assert go._command_of(there, tmp_path / "bare") == "example.com/little/cmd/server"
