"""A package is got, checked, unpacked and only then there."""

import subprocess
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from dbdyno.errors import RunFailed, UserError
from dbdyno.systems.packages import install as module
from dbdyno.systems.packages.cache import cache_folder, installed
from dbdyno.systems.packages.install import install
from dbdyno.systems.packages.package import Part
from helpers import wait_until


def test_an_installed_program_runs_and_its_download_is_gone(package):
    seen = []
    there = install(package, seen.append)
    assert subprocess.run(there.program("littled"), capture_output=True, text=True, check=True).stdout == (
        "little server\n"
    )
    assert (there.folder / "words" / "words.txt").read_text() == "hello"
    assert seen[-1] == package.size_bytes
    assert [path.name for path in (cache_folder() / "downloads").iterdir()] == []


def test_it_is_installed_once(package):
    seen = []
    install(package, seen.append)
    seen.clear()
    assert install(package, seen.append) == installed(package)
    assert seen == []


def test_what_was_cut_short_is_not_installed_and_is_made_anew(package):
    partial = cache_folder() / f"{package.name}.partial"
    partial.mkdir(parents=True)
    (partial / "rest").touch()
    assert installed(package) is None
    assert not (install(package, lambda _: None).folder / "rest").exists()


def test_a_broken_installation_is_told_and_made_anew(package):
    program = install(package, lambda _: None).folder / "bin" / "littled"
    whole = program.read_bytes()
    for wrong, said in ((b"", "is empty"), (whole[:5], "has 5 bytes")):
        program.write_bytes(wrong)
        with pytest.raises(UserError, match=f"little@1 is broken: .*littled {said}.*systems install little@1"):
            installed(package).program("littled")
        assert install(package, lambda _: None).program("littled") and program.read_bytes() == whole
    program.unlink()
    assert "littled is missing" in installed(package).broken()


def test_two_at_once_make_one_and_the_second_waits(package, monkeypatch):
    made, obtain = [], module._obtain

    def slowly(*arguments):
        made.append(arguments)
        second.start()
        wait_until(lambda: waits_for_a_lock(second.native_id))
        obtain(*arguments)

    monkeypatch.setattr(module, "_obtain", slowly)
    got = []
    second = threading.Thread(target=lambda: got.append(install(package, lambda _: None)))
    first = install(package, lambda _: None)
    second.join()
    assert got == [first] and len(made) == 1


def waits_for_a_lock(thread):
    return any(line.split()[1] == "->" for line in Path("/proc/locks").read_text().splitlines()) and thread


def test_another_file_than_was_pinned_is_refused_and_removed(package):
    other = replace(package, sha256="0" * 64)
    with pytest.raises(RunFailed, match="it is not the tested file"):
        install(other, lambda _: None)
    assert installed(other) is None
    assert not (cache_folder() / "downloads" / package.name / package.file).exists()


def test_a_part_that_is_not_in_it_is_named(package):
    with pytest.raises(RunFailed, match="the package has no little/none/"):
        install(replace(package, parts=(Part("little/none/"),)), lambda _: None)


def test_a_cache_directory_that_cannot_be_made_is_named(package, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("DBDYNO_CACHE_DIR", str(tmp_path / "file"))
    with pytest.raises(UserError, match=r"cannot be installed in .*file"):
        install(package, lambda _: None)
