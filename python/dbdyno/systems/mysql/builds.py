"""Builds of MySQL, MariaDB and their forks: where their programs and files lie, and how they make a data directory."""

import re
from collections.abc import Mapping
from pathlib import Path

from dbdyno.errors import UserError
from dbdyno.systems.builds.build import Build
from dbdyno.systems.builds.config import options_of_groups
from dbdyno.systems.builds.layout import Layout

_SERVER_FOLDERS = ("bin", "sbin", "libexec", "runtime_output_directory", "sql")
"""Paths of the server: in an installation or a tarball, in MySQL's build trees since 8, in all other build trees."""
_SCRIPT_FOLDERS = ("scripts", "bin")
_MESSAGES = ("share/english", "share/mysql/english", "share/mariadb/english", "sql/share/english")
_CHARACTER_SETS = ("share/charsets", "share/mysql/charsets", "share/mariadb/charsets", "sql/share/charsets")
_PLUGINS = ("lib/plugin", "lib64/mysql/plugin", "lib/mysql/plugin", "plugin_output_directory")
_TEMPLATES = ("template", "data")
"""Data directories that binaries of MySQL up to 5.6 bring along."""


def _in(folders: tuple[str, ...], *names: str) -> tuple[str, ...]:
    return tuple(f"{folder}/{name}" for name in names for folder in folders)


MARIADB = Layout(
    "basedir",
    {
        "mariadbd": _in(_SERVER_FOLDERS, "mariadbd", "mysqld"),
        "mariadb-install-db": _in(_SCRIPT_FOLDERS, "mariadb-install-db", "mysql_install_db"),
    },
    re.compile(r"Ver (?P<version>\S*MariaDB\S*)"),
    ("--no-defaults", "--version"),
    config=options_of_groups("mariadbd", "mariadb", "mysqld", "server"),
)
MYSQL = Layout(
    "basedir",
    {
        "mysqld": _in(_SERVER_FOLDERS, "mysqld", "mysqld-debug"),
        "mysql_install_db": _in(_SCRIPT_FOLDERS, "mysql_install_db"),
    },
    re.compile(r"Ver (?P<version>(?!\S*MariaDB)\d\S*)"),
    ("--no-defaults", "--version"),
    config=options_of_groups("mysqld", "server"),
)


def options_of(folder: Path) -> list[str]:
    """Return the options that tell a server which is not where it was built for where its own files are."""
    messages, characters, plugins = (_first(folder, places) for places in (_MESSAGES, _CHARACTER_SETS, _PLUGINS))
    return [
        f"--basedir={folder}",
        *([f"--lc-messages-dir={messages.parent}"] if messages else []),
        *([f"--character-sets-dir={characters}"] if characters else []),
        *([f"--plugin-dir={plugins}"] if plugins else []),
    ]


def template_of(folder: Path) -> Path | None:
    """Return the data directory that a build brings along, to be copied; None if it has none."""
    return _first(folder, tuple(f"{name}/mysql/user.frm" for name in _TEMPLATES), up=2)


def copied(template: Path, data: Path) -> list[str]:
    """Return the command that makes a data directory of one that was brought along.

    Without its `auto.cnf`, which names a server: two of one name do not replicate.
    """
    copy_and_forget = 'cp --recursive --no-preserve=mode "$0" "$1" && rm -f "$1/auto.cnf"'
    return ["/bin/sh", "-c", copy_and_forget, str(template), str(data)]


def release_of(version: str) -> tuple[int, ...]:
    """Return the numbers that a version begins with: (8, 0, 35) of `8.0.35-27`."""
    return tuple(int(number) for number in re.findall(r"\d+", version.partition("-")[0])[:3])


def levers_of(says: str, release: tuple[int, ...], levers: Mapping[str, str]) -> dict[str, str]:
    """Return those of MariaDB's levers that a fork and release of MySQL has, under the names it knows.

    Percona Server has MariaDB's thread pool, and MySQL itself none. From 8.0.30 on the log has a capacity.
    """
    known = dict(levers)
    if "Percona" not in says:
        known.pop("server-queue", None)
    if release >= (8, 0, 30):
        known["checkpoint"] = "innodb_redo_log_capacity=2G"
    return known


def make_data_command(build: Build, data: Path, options: list[str]) -> list[str]:
    """Return the command that makes the data directory of a build of MySQL: each way in the versions that have it.

    Raises UserError if the build has none.
    """
    if template := template_of(build.folder):
        return copied(template, data)
    if release_of(build.version) >= (5, 7):
        return [*build.program("mysqld"), *options, "--initialize-insecure", f"--datadir={data}"]
    if "mysql_install_db" not in build.programs:
        raise UserError(
            f"{build.folder} has no data directory to copy (data/mysql) and no scripts/mysql_install_db: take the "
            "whole tarball, or run `make install`"
        )
    return [*build.program("mysql_install_db"), *options, f"--datadir={data}"]


def _first(folder: Path, places: tuple[str, ...], up: int = 0) -> Path | None:
    path = next((folder / name for name in places if (folder / name).exists()), None)
    return path.parents[up - 1] if path and up else path
