"""A file without names is reported with the package that has them."""

import os

import pytest

from dbdyno.observe.stacks import symbols
from dbdyno.observe.stacks.symbols import mapped_files, package_with_names


def test_programs_and_libraries_of_a_process_are_known_by_their_files():
    files = mapped_files([os.getpid(), 2**22 + 1])
    assert any(name.startswith("libc") for name in files)
    assert all(path.startswith("/") and path.endswith("/" + name) for name, path in files.items())


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """A distribution of two packages, in which one file is where it was before /lib became a link."""
    query = tmp_path / "dpkg-query"
    query.write_text(
        "#!/bin/sh\n"
        "case $2 in\n"
        "/usr/sbin/served) echo 'a-server-core: /usr/sbin/served';;\n"
        "/lib/libc.so.6) echo 'libc6:amd64: /lib/libc.so.6';;\n"
        "*) exit 1;;\n"
        "esac\n"
    )
    query.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")


@pytest.mark.parametrize(
    ("path", "package"),
    [
        ("/usr/sbin/served", "a-server-core-dbgsym"),
        ("/usr/lib/libc.so.6", "libc6-dbg"),
        ("/opt/own/served", None),
    ],
)
def test_the_package_that_has_the_names(packages, path, package):
    assert package_with_names(path) == package


def test_where_packages_are_not_debians_none_is_named(monkeypatch):
    monkeypatch.setattr(symbols.shutil, "which", lambda name: None)
    assert package_with_names("/usr/sbin/served") is None
