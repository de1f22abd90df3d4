"""The files of MySQL and MariaDB builds, and how they make a data directory."""

import re
import subprocess
import tempfile
from pathlib import Path

import pytest

from dbdyno.errors import UserError
from dbdyno.systems.builds.build import Build
from dbdyno.systems.builds.identity import identify
from dbdyno.systems.mysql.builds import MARIADB, MYSQL, levers_of, make_data_command, options_of, release_of
from helpers import need, system
from systems.builds.scripts import script
from systems.load import rows_read


def build_of(folder, version, **programs):
    made(folder, "bin/mysqld")
    return Build(
        MYSQL, folder, {"mysqld": folder / "bin/mysqld"} | programs, version, "", identify(folder / "bin/mysqld")
    )


def made(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


@pytest.mark.parametrize(
    ("says", "mysql", "mariadb"),
    [
        ("mysqld  Ver 8.0.31 for Linux on x86_64 (MySQL Community Server - GPL)", "8.0.31", None),
        ("mysqld  Ver 9.1.0 for Linux on x86_64 (MySQL Community Server - GPL)", "9.1.0", None),
        ("/opt/mysqld  Ver 8.0.35-27 for Linux on x86_64 (Percona Server (GPL), Release 27)", "8.0.35-27", None),
        ("mysqld  Ver 5.6.24-debug-log for debian", "5.6.24-debug-log", None),
        ("mariadbd  Ver 10.11.6-MariaDB-0+deb12u1 for debian-linux-gnu", None, "10.11.6-MariaDB-0+deb12u1"),
        ("bash: mysqld: not found", None, None),
    ],
)
def test_each_is_known_by_what_it_says_of_its_version(says, mysql, mariadb):
    known = [match and match["version"] for match in (MYSQL.says.search(says), MARIADB.says.search(says))]
    assert known == [mysql, mariadb]


@pytest.mark.parametrize(
    ("version", "release"), [("8.0.35-27", (8, 0, 35)), ("9.1", (9, 1)), ("10.11.6-MariaDB-1", (10, 11, 6)), ("", ())]
)
def test_a_release_is_the_numbers_a_version_begins_with(version, release):
    assert release_of(version) == release


@pytest.mark.parametrize(
    ("files", "options"),
    [
        (("share/english/errmsg.sys", "share/charsets/Index.xml"), ("share", "share/charsets")),
        (("share/mysql/english/errmsg.sys", "share/mysql/charsets/Index.xml"), ("share/mysql", "share/mysql/charsets")),
    ],
)
def test_a_build_is_told_where_its_files_are(tmp_path, files, options):
    made(tmp_path, *files)
    messages, characters = (tmp_path / name for name in options)
    assert options_of(tmp_path) == [
        f"--basedir={tmp_path}",
        f"--lc-messages-dir={messages}",
        f"--character-sets-dir={characters}",
    ]


def test_a_folder_without_such_files_is_the_base_directory_alone(tmp_path):
    assert options_of(tmp_path) == [f"--basedir={tmp_path}"]


def test_a_data_directory_that_was_brought_along_is_copied(tmp_path):
    made(tmp_path, "data/mysql/user.frm", "data/auto.cnf")
    command = make_data_command(build_of(tmp_path, "5.6.51"), tmp_path / "new", [])
    subprocess.run(command, check=True)
    assert [path.relative_to(tmp_path / "new") for path in (tmp_path / "new").rglob("*")] == [
        Path("mysql"),
        Path("mysql/user.frm"),
    ]


def test_versions_from_5_7_on_make_it_themselves(tmp_path):
    command = make_data_command(build_of(tmp_path, "8.4.3"), Path("/d"), ["--no-defaults"])
    assert command == [str(tmp_path / "bin/mysqld"), "--no-defaults", "--initialize-insecure", "--datadir=/d"]


def test_older_ones_have_a_script(tmp_path):
    build = build_of(tmp_path, "5.5.62", mysql_install_db=tmp_path / "scripts/mysql_install_db")
    assert make_data_command(build, Path("/d"), []) == [str(tmp_path / "scripts/mysql_install_db"), "--datadir=/d"]


def test_one_without_any_of_these_is_refused(tmp_path):
    with pytest.raises(UserError, match=re.escape("has no data directory to copy (data/mysql)")):
        make_data_command(build_of(tmp_path, "5.5.62"), Path("/d"), [])


@pytest.mark.parametrize(
    ("says", "release", "levers"),
    [
        ("MySQL Community Server - GPL", (5, 7, 44), {"checkpoint": "innodb_log_file_size=1G"}),
        ("MySQL Community Server - GPL", (8, 4, 3), {"checkpoint": "innodb_redo_log_capacity=2G"}),
        (
            "Percona Server (GPL), Release 27",
            (8, 0, 35),
            {"checkpoint": "innodb_redo_log_capacity=2G", "server-queue": "thread_pool_size=8"},
        ),
    ],
)
def test_a_fork_is_advised_what_it_knows(says, release, levers):
    every = {"checkpoint": "innodb_log_file_size=1G", "server-queue": "thread_pool_size=8"}
    assert levers_of(says, release, every) == levers


LIKE_8_4 = """\
case "$*" in *--version*) echo "mysqld  Ver 8.4.3 for Linux on x86_64 (MySQL Community Server - GPL)"; exit;; esac
for option; do
    shift
    case "$option" in
        --loose-default-authentication-plugin=* | --loose-skip-ssl) ;;
        --default-authentication-plugin=* | --skip-ssl) echo "unknown option $option"; exit 1;;
        *) set -- "$@" "$option";;
    esac
done
exec env LD_LIBRARY_PATH={folder} {folder}/mysqld "$@" --default-authentication-plugin=caching_sha2_password
"""
"""MySQL 8.0 instead of a later one, which lacks these options and logs in another way."""


@pytest.mark.systems
def test_a_mysql_that_lacks_options_and_the_older_way_to_log_in_is_loaded(started):
    need("mysql@8.0")
    own = system("mysql@8.0").installation().folder
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "bin").mkdir()
        (folder / "share").symlink_to(own / "share")
        script(folder / "bin/mysqld", LIKE_8_4.format(folder=own / "bin"))
        server = started(f"mysql?basedir={folder}&innodb_redo_log_capacity=200M")
        assert server.build.version == "8.4.3" and rows_read(server) > 0
        assert server._ask("SELECT user, plugin FROM mysql.user WHERE user = 'dbdyno'") == {
            "dbdyno": "caching_sha2_password"
        }
