"""The clients that can drive a store: the native load client, a client library for Python, or a program at a path."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from dbdyno.errors import did_you_mean

NATIVE = "native"
CACHES = ("pymemcache", "redis-py")
"""The libraries that can drive a cache, in a pair with that of the store behind it: `pymemcache+pymysql`."""
C_LIBRARY = "library"
"""The setting that names the file of a C library: `psycopg?library=/opt/pgsql/lib/libpq.so.5`."""


@dataclass(frozen=True)
class Library:
    """A client library for Python.

    module: what is imported if it is installed. extra: of dbdyno, that installs it.
    c_library: the C library that it calls and that a path can name; empty: none.
    """

    name: str
    what: str
    module: str
    extra: str
    c_library: str = ""

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
        Library("mysqlclient", "mysqlclient, MySQLdb over the C library", "MySQLdb", "mysqlclient", "libmariadb"),
        Library("psycopg", "psycopg, over the C library libpq", "psycopg", "psycopg", "libpq"),
        Library("redis-py", "redis-py, pure Python; its parser is in C if hiredis is installed", "redis", "redis"),
        Library("pymemcache", "pymemcache, pure Python", "pymemcache", "pymemcache"),
        Library("pymongo", "PyMongo, Python with documents in C", "pymongo", "pymongo"),
        Library("cassandra-driver", "cassandra-driver, Python compiled by Cython", "cassandra", "cassandra"),
    )
}
"""The libraries there are, by the name an experiment gives them; which systems each speaks to, `systems` knows."""


def check_clients(clients: list[str]) -> list[str]:
    """Return the clients; raises ValueError if one is none, or is there twice."""
    known = [NATIVE, *LIBRARIES]
    for client in clients:
        if is_own(client):
            continue
        _, mark, setting = client.partition("?")
        name = _check_pair(client) if "+" in name_of(client) else name_of(client)
        if name not in known:
            raise ValueError(
                f"there is no client '{name}'{did_you_mean(name, known)} The clients are {', '.join(known)}, "
                "or a program's path, such as ./mine"
            )
        if mark:
            _check_setting(client, name, setting)
    if not clients or len(set(clients)) < len(clients):
        raise ValueError("give at least one client, and each once")
    return clients


def _check_pair(client: str) -> str:
    """Return the library of the store in a pair; raises ValueError if the first is none that drives a cache."""
    cache, _, store = name_of(client).partition("+")
    if cache not in CACHES or store == NATIVE:
        raise ValueError(
            f"client '{client}': write the library of the cache, {' or '.join(CACHES)}, and behind a + that of the "
            "store: pymemcache+pymysql"
        )
    return store


def _check_setting(client: str, name: str, setting: str) -> None:
    able = [library.name for library in LIBRARIES.values() if library.c_library]
    if name not in able:
        raise ValueError(f"client '{client}': {name} has no C library to choose; {' and '.join(able)} have one")
    key, _, path = setting.partition("=")
    if key != C_LIBRARY or not path:
        raise ValueError(f"client '{client}': write {name}?{C_LIBRARY}=/path/to/{LIBRARIES[name].c_library}.so")


def is_own(client: str) -> bool:
    """Return whether a client is a program of the user's own, which its path names: it has a slash."""
    return "/" in client.partition("?")[0]


def libraries_among(clients: Sequence[str]) -> list[str]:
    """Return the clients that are libraries, each with its setting."""
    return [client for client in clients if client != NATIVE and not is_own(client)]


def program_of(client: str) -> Path | None:
    """Return the program of a client that is the user's own; None for any other client."""
    return Path(client).expanduser().absolute() if is_own(client) else None


def words_of(client: str, clients: Sequence[str]) -> str:
    """Return how a label names one of these clients: a program by its file's name, if no other has the same."""
    names = [Path(other).name for other in clients if is_own(other)]
    return Path(client).name if is_own(client) and names.count(Path(client).name) == 1 else client


def library_of(client: str) -> Library:
    """Return the library of a client that is one; of a pair, that of the store."""
    return LIBRARIES[name_of(client).rpartition("+")[2]]


def cache_library_of(client: str) -> Library | None:
    """Return the library of a pair that drives the cache; None if the client is no pair."""
    cache, plus, _ = name_of(client).partition("+")
    return LIBRARIES.get(cache) if plus else None


def name_of(client: str) -> str:
    """Return a client's name, without the path of its C library."""
    return client.partition("?")[0]


def c_library_of(client: str) -> Path | None:
    """Return the file of the C library that a client is to load; None if it loads the host's."""
    path = "" if is_own(client) else client.partition("=")[2]
    return Path(path).expanduser().absolute() if path else None
