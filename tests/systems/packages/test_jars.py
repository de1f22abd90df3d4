"""A program of many jars is there when each is what was pinned, and only then."""

import hashlib
from dataclasses import replace

import pytest

from dbdyno.errors import RunFailed, UserError
from dbdyno.systems.packages import jars
from dbdyno.systems.packages.cache import CACHE_VARIABLE
from dbdyno.systems.packages.catalogue import PACKAGES
from dbdyno.systems.packages.install import install
from dbdyno.systems.packages.jars import download_jars, pinned_sums


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return a package of two jars, and have a client that gets what stands in `tmp_path / "repository"`."""
    repository = tmp_path / "repository"
    repository.mkdir()
    for name in ("a.jar", "b.jar"):
        (repository / name).write_text(name)
    names = sorted(repository.iterdir())
    listed = "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in names)
    (tmp_path / "little-1.sha256").write_text(listed)
    program = tmp_path / "bin" / "mvn"
    program.parent.mkdir()
    program.write_text(
        f"#!/bin/sh\nfor word; do case $word in -DoutputDirectory=*) to=${{word#*=}};; esac; done\n"
        f'mkdir -p "$to"; cp {repository}/* "$to"\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    monkeypatch.setattr(jars, "__file__", str(tmp_path / "jars.py"))
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    digest = hashlib.sha256(listed.encode()).hexdigest()
    return replace(PACKAGES["cassandra@5.0"], file="little-1.sha256", sha256=digest, size_bytes=10)


def test_all_jars_are_installed_together(package):
    seen = []
    there = install(package, seen.append)
    assert sorted(path.name for path in (there.folder / "lib").iterdir()) == ["a.jar", "b.jar"]
    assert seen[-1] == package.size_bytes


def test_jars_that_are_there_are_not_got_again(package, tmp_path, monkeypatch):
    first = download_jars(package, tmp_path / "d", lambda _: None)
    monkeypatch.setenv("PATH", "")
    assert download_jars(package, tmp_path / "d", lambda _: None) == first


@pytest.mark.parametrize("change", ["another", "missing", "more"])
def test_what_is_not_what_was_pinned_is_refused_and_removed(package, tmp_path, change):
    repository = tmp_path / "repository"
    match change:
        case "another":
            (repository / "b.jar").write_text("another")
        case "missing":
            (repository / "b.jar").unlink()
        case "more":
            (repository / "c.jar").touch()
    wrong = "c.jar" if change == "more" else "b.jar"
    with pytest.raises(RunFailed, match=f"1 of its files differ from the tested ones.* the first is {wrong}"):
        download_jars(package, tmp_path / "d", lambda _: None)
    assert not (tmp_path / "d" / "jars").exists()


def test_without_mvn_it_says_how_to_get_it(package, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UserError, match="apt install maven"):
        download_jars(package, tmp_path / "d", lambda _: None)


def test_another_list_than_was_pinned_is_refused(package):
    with pytest.raises(RunFailed, match="not the list of sums that was pinned"):
        pinned_sums(replace(package, sha256="0" * 64))


def test_the_list_that_is_shipped_is_the_one_that_was_pinned():
    sums = pinned_sums(PACKAGES["cassandra@5.0"])
    assert len(sums) == 99 and "cassandra-all-5.0.2.jar" in sums
