"""The load program is found wherever pip puts it, tried with wheels that pip installs."""

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from dbdyno.conduct.load_program import built_program, installed_places

PACKAGE = Path(__file__).parents[2] / "python" / "dbdyno"
FINDS = "import dbdyno.conduct.load_client as c; print(c.__file__); print(c.find_load_client())"
NAME = "dbdyno-0.0"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Make a wheel like dbdyno's own: the package, and a program among the scripts."""
    path = tmp_path_factory.mktemp("wheel") / f"{NAME}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as file:
        for source in sorted(PACKAGE.rglob("*.py")):
            file.write(source, source.relative_to(PACKAGE.parent))
        program = zipfile.ZipInfo(f"{NAME}.data/scripts/dbdyno-load")
        program.external_attr = 0o100755 << 16
        file.writestr(program, "#!/bin/sh\necho dbdyno-load 9.9\n")
        file.writestr(f"{NAME}.dist-info/METADATA", "Metadata-Version: 2.1\nName: dbdyno\nVersion: 0.0\n")
        file.writestr(f"{NAME}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{NAME}.dist-info/RECORD", "")
    return path


def found_by(site: Path) -> list[str]:
    """Return the module and the program that a Python finds with `site` before all other packages."""
    environment = {key: value for key, value in os.environ.items() if key != "DBDYNO_LOAD"}
    environment |= {"PYTHONPATH": str(site), "PATH": "/nowhere"}
    command = [sys.executable, "-c", FINDS]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, cwd=site)
    return done.stdout.splitlines()


@pytest.mark.parametrize("option", ["--target", "--prefix"])
def test_a_wheel_that_pip_puts_elsewhere_has_its_own_program(option, wheel, tmp_path):
    pytest.importorskip("pip")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-compile"]
    destination = [option, str(tmp_path), "--ignore-installed", str(wheel)]
    subprocess.run([*install, *destination], check=True, capture_output=True)
    (package,) = (path.parent for path in tmp_path.rglob("dbdyno/__init__.py"))
    module, program = found_by(package.parent)
    assert Path(module).is_relative_to(tmp_path) and program == str(tmp_path / "bin" / "dbdyno-load")


@pytest.mark.parametrize(
    ("package", "program"),
    [
        ("home/.local/lib/python3.11/site-packages", "home/.local/bin"),
        ("home/.local/share/uv/tools/dbdyno/lib/python3.13/site-packages", "home/.local/share/uv/tools/dbdyno/bin"),
        ("home/.local/share/pipx/venvs/dbdyno/lib/python3.12/site-packages", "home/.local/share/pipx/venvs/dbdyno/bin"),
        ("usr/local/lib/python3.11/dist-packages", "usr/local/bin"),
        ("target", "target/bin"),
    ],
)
def test_the_place_is_that_of_the_package_where_an_installer_puts_it(package, program, tmp_path):
    places = list(installed_places(tmp_path / package / "dbdyno"))
    assert tmp_path / program / "dbdyno-load" in places


def test_a_checkout_is_no_prefix():
    assert PACKAGE.parents[3] / "bin" / "dbdyno-load" not in installed_places(PACKAGE)
    assert built_program(PACKAGE) == PACKAGE.parents[1] / "target" / "release" / "dbdyno-load"


def test_the_places_of_this_python_are_among_them():
    folders = {path.parent for path in installed_places()}
    assert {Path(sys.executable).parent, Path(sysconfig.get_path("scripts"))} <= folders
    assert Path(sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user"))) in folders
