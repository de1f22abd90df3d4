"""MySQL, each version from its own package."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import ClassVar

from dbdyno.errors import UserError
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.systems.actions import Actions
from dbdyno.systems.builds.build import Build
from dbdyno.systems.copier import Tool
from dbdyno.systems.mysql.builds import MYSQL, copied, levers_of, make_data_command, options_of, release_of
from dbdyno.systems.mysql.copier import TOOLS
from dbdyno.systems.mysql.mariadb import SINCE_5_6, MariaDB
from dbdyno.systems.packages.cache import Installation
from dbdyno.systems.packages.catalogue import PACKAGES
from dbdyno.systems.running.password import random_password
from dbdyno.systems.space import Storage

_NEW_USER = """\
CREATE DATABASE dbdyno;
CREATE USER 'dbdyno'@'localhost' IDENTIFIED BY '{password}';
CREATE USER 'dbdyno'@'{host}' IDENTIFIED BY '{password}';
GRANT ALL PRIVILEGES ON *.* TO 'dbdyno'@'localhost';
GRANT ALL PRIVILEGES ON *.* TO 'dbdyno'@'{host}';
DELETE FROM mysql.user WHERE User IN ('root', '');
FLUSH PRIVILEGES;
"""


@cache
def _password() -> str:
    """Return the password of every server of this process, so that one starts on the data of another."""
    return random_password()


class MySQL(MariaDB):
    """A private MySQL server of the version asked for: `mysql@5.6`. Settings as MariaDB's."""

    name = "mysql"
    what = "MySQL, each version by itself (mysql@8.0), any server variable"
    # 8.0 writes a binary log, and what is in it is there twice.
    storage: ClassVar[Storage] = Storage(2.0, 40, empty_bytes=200_000_000)
    # From 5.7 on the server writes files only to a folder of its installation's choice.
    copy_tools: Mapping[str, Tool] = {name: tool for name, tool in TOOLS.items() if name != "files"}
    # mariadb-backup copies no files of MySQL.
    actions: ClassVar[Actions] = {name: action for name, action in MariaDB.actions.items() if name != "backup"}
    server_program = "mysqld"
    layout = MYSQL
    reasons: ClassVar[Mapping[str, str]] = SINCE_5_6
    new_user = _NEW_USER

    def __init__(self, spec: SystemSpec) -> None:
        super().__init__(spec)
        if self.build:
            self.levers = levers_of(self.build.said, self.release, self.levers)
        self.leave_out_what_came_after(self.release)
        if self.encrypts and self.release < (8,):
            raise UserError(f"{spec.label}: its TLS is older than 1.2: leave 'tls' out, or take mysql@8.0")

    @property
    def release(self) -> tuple[int, ...]:
        """The numbers of its version, as far as they are known: (8, 0)."""
        return release_of(self.build.version if self.build else self.spec.version)

    def new_password(self) -> str:
        # Its user is made once, with the data: no one statement gives it another password in all of the versions.
        return _password()

    @classmethod
    def missing(cls) -> str | None:
        versions = [package.version for package in PACKAGES.values() if package.system == cls.name]
        return f"name a version: mysql@{', '.join(versions)}; or a build: mysql?basedir=/opt/mysql"

    def _make_data_command(self, data: Path) -> list[str]:
        """Return the command that makes the data directory: 5.5 and 5.6 bring one along, to be copied."""
        options = ["--no-defaults", *self.base_options(), *self.made_with()]
        if self.build:
            return make_data_command(self.build, data, options)
        template = self._there().folder / "template"
        if template.is_dir():
            return copied(template, data)
        return [*self.program("mysqld"), *options, "--initialize-insecure", f"--datadir={data}"]

    def _there(self) -> Build | Installation:
        there = self.installation()
        assert there is not None, "dbdyno runs no MySQL of the host"
        return there

    def base_options(self) -> list[str]:
        """Return the options that a server needs which is not where it was built for.

        `loose`: versions that do not know an option leave it. In 8.0 the second protocol is off, and the
        default login is that of all others, so that versions differ only in what is measured.
        """
        return [
            *options_of(self._there().folder),
            *([] if self.encrypts else ["--loose-skip-ssl"]),
            "--loose-mysqlx=OFF",
            "--loose-default-authentication-plugin=mysql_native_password",
        ]
