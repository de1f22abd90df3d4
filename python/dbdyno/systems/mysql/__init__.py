"""Servers of the MySQL protocol: MariaDB, MySQL, TiDB, HandlerSocket."""
