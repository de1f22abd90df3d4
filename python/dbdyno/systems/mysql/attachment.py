"""Any server of the MySQL protocol, which dbdyno attaches to by its URL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from dbdyno.errors import UserError
from dbdyno.experiment.password import VARIABLE as PASSWORD_VARIABLE
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.later import LaterModule
from dbdyno.systems.analyst import Analyst
from dbdyno.systems.mysql.analyst import AttachedMySQLAnalyst
from dbdyno.systems.mysql.builds import release_of
from dbdyno.systems.mysql.mariadb import SINCE_5_6, MySQLServer
from dbdyno.systems.mysql.tidb_settings import ACTIVE, OWN, is_tidb, refuse_what_it_lacks
from dbdyno.systems.mysql.tidb_settings import VARIABLES as TIDB_VARIABLES
from dbdyno.systems.probe import Probe
from dbdyno.systems.running.endpoint import Unreached, endpoint_of, refuse_server_settings
from dbdyno.systems.running.tls import ATTACHED_SETTINGS, attached_tls, hint

if TYPE_CHECKING:
    import pymysql
    from pymysql.constants import CR, ER
else:
    pymysql = LaterModule("pymysql")
    CR, ER = LaterModule("pymysql.constants.CR"), LaterModule("pymysql.constants.ER")

_NO_PASSWORD_ASKED = 1698
"""ER_ACCESS_DENIED_NO_PASSWORD_ERROR, which PyMySQL has no name for."""


class AttachedMySQL(MySQLServer):
    """Somebody else's server of the MySQL protocol: `mysql://user:password@host:port/database`."""

    name = "mysql"
    schemes = ("mysql",)
    what = "any server of the MySQL protocol: mysql://user@host:3306/database"
    own_settings: ClassVar[tuple[str, ...]] = ("engine", "access", "protocol", *ATTACHED_SETTINGS)
    reasons: ClassVar[Mapping[str, str]] = SINCE_5_6

    def __init__(self, spec: SystemSpec) -> None:
        super().__init__(spec)
        refuse_server_settings(spec, (*self.own_settings, "socket"))
        self.endpoint = replace(endpoint_of(spec.url, 3306), tls=attached_tls(spec))
        self._is_tidb = False
        if not self.endpoint.database:
            raise UserError(f"{spec.label}: name the database to make dbdyno's tables in, mysql://…/database")

    def attach(self) -> None:
        try:
            ((version,),) = self._query("SELECT VERSION()")
            if is_tidb(version):
                self._attach_to_tidb()
            else:
                self.leave_out_what_came_after(release_of(version))
            self._check_engine()
        except (pymysql.MySQLError, RuntimeError) as error:
            if why := _explain(error):
                raise UserError(f"{self.spec.label}: {why}") from None
            raise Unreached(error) from None

    def _attach_to_tidb(self) -> None:
        """Ask from now on for what does something there; raises UserError for a setting that does not."""
        refuse_what_it_lacks(self.spec)
        self.shown_variables, self.variables_query = TIDB_VARIABLES, ACTIVE
        self._is_tidb = True
        try:
            self._query(ACTIVE)
        except pymysql.MySQLError:
            self.variables_query = OWN

    def analyst(self) -> Analyst:
        with self.asking():
            return AttachedMySQLAnalyst(self.endpoint, self.engine)

    def probes(self) -> list[Probe]:
        # Its SHOW STATUS counts nothing, and in its list of connections one sleeps that the Go runtime has yet to run.
        return [] if self._is_tidb else super().probes()


def _explain(error: Exception) -> str | None:
    """Return what a server means that lets nobody in, or None if nothing spoke its protocol to the end.

    `error.args` of pymysql are its number and its message.
    """
    number, message = (*error.args, "", "")[:2] if isinstance(error, pymysql.MySQLError) else (None, str(error))
    if number == ER.ACCESS_DENIED_ERROR:
        # To a user who must have TLS, MariaDB says no more than this.
        return (
            f"{message}; check the user and the password in the URL or in {PASSWORD_VARIABLE}, and whether the server "
            "wants TLS (tls=required)"
        )
    if number == _NO_PASSWORD_ASKED:
        return (
            f"{message}; an account with unix_socket or auth_socket admits only the host's user of that name: "
            "run dbdyno as that user, or name an account with a password"
        )
    if todo := hint(str(message)):
        return f"{message}; {todo}"
    is_from_server = isinstance(number, int) and 0 < number < CR.CR_ERROR_FIRST
    return str(message) if is_from_server or number == CR.CR_AUTH_PLUGIN_CANNOT_LOAD else None
