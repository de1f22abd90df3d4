"""Servers of the MySQL protocol: MariaDB, MySQL, TiDB, HandlerSocket; and ProxySQL before them."""

from dbdyno.systems.base import Family
from dbdyno.systems.mysql.attachment import AttachedMySQL
from dbdyno.systems.mysql.handlersocket import HandlerSocket
from dbdyno.systems.mysql.mariadb import MariaDB
from dbdyno.systems.mysql.mysql import MySQL
from dbdyno.systems.mysql.proxysql import ProxySQL
from dbdyno.systems.mysql.tidb import TiDB

FAMILY = Family((MariaDB, MySQL, HandlerSocket, TiDB), attached=(AttachedMySQL,), parts=(ProxySQL,))
