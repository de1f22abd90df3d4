"""The clients that can drive a store: the native load client, or a client library for Python."""

from dataclasses import dataclass
from importlib.util import find_spec

from dbdyno.errors import did_you_mean

NATIVE = "native"


@dataclass(frozen=True)
class Library:
    """A client library; module: what is imported if it is installed; extra: of dbdyno, that installs it."""

    name: str
    what: str
    module: str
    extra: str

    @property
    def installed(self) -> bool:
        """Return whether it can be imported here."""
        return find_spec(self.module) is not None

    @property
    def missing(self) -> str:
        """The message if it is not installed."""
        return f"{self.name} is not installed: pip install 'dbdyno[{self.extra}]'"


LIBRARIES = {
    library.name: library
    for library in (
        Library("pymysql", "PyMySQL, pure Python", "pymysql", "pymysql"),
        Library("mysqlclient", "mysqlclient (MySQLdb), over the C library", "MySQLdb", "mysqlclient"),
        Library("redis-py", "redis-py, pure Python; its parser is in C if hiredis is installed", "redis", "redis"),
        Library("pymemcache", "pymemcache, pure Python", "pymemcache", "pymemcache"),
        Library("pymongo", "PyMongo, Python with documents in C", "pymongo", "pymongo"),
        Library("cassandra-driver", "cassandra-driver, Python compiled by Cython", "cassandra", "cassandra"),
    )
}
"""The libraries there are, by the name an experiment gives them; which systems each speaks to, `systems` knows."""


def check_clients(names: list[str]) -> list[str]:
    """Return `names`; raises ValueError if one is no client, or is there twice."""
    known = [NATIVE, *LIBRARIES]
    for name in names:
        if name not in known:
            raise ValueError(
                f"there is no client '{name}'{did_you_mean(name, known)} The clients are {', '.join(known)}"
            )
    if not names or len(set(names)) < len(names):
        raise ValueError("give at least one client, and each once")
    return names
