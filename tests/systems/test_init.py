"""Every system there is can be built from its name, and what is none is refused."""

import ast
import inspect
import re
import textwrap

import pytest

from dbdyno.errors import UserError
from dbdyno.experiment.system_spec import parse_system
from dbdyno.systems import _FAMILIES, ARRANGEMENTS, ATTACHED, PARTS, SYSTEMS, missing, sized
from dbdyno.systems.base import System
from dbdyno.systems.mysql import AttachedMySQL, MariaDB, MySQL
from helpers import system


@pytest.mark.parametrize("name", sorted(set(SYSTEMS) - {arrangement.name for arrangement in ARRANGEMENTS}))
def test_a_system_goes_by_its_name(name):
    assert type(system(name)) is SYSTEMS[name]


@pytest.mark.parametrize("scheme", sorted(ATTACHED))
def test_a_url_goes_by_its_scheme(scheme):
    path = "keyspace" if scheme == "cassandra" else "1"
    assert type(system(f"{scheme}://host/{path}")) is ATTACHED[scheme]


def test_a_variant_takes_over_what_it_serves_and_nothing_else():
    assert type(system("mariadb?engine=spider")).name == "spider"
    assert type(system("mariadb?engine=InnoDB")) is SYSTEMS["mariadb"]
    for other in ("handlersocket?engine=Spider", "mysql://u@host/d?engine=Spider"):
        with pytest.raises(UserError, match="tables of Spider lie on other servers"):
            system(other)


def knows(parent: type[System], child: type[System]) -> bool:
    """Return whether the source of a class names another class, or its module imports that one's."""
    module = inspect.getsource(inspect.getmodule(parent))
    imports = re.search(rf"^\s*(?:from|import) {re.escape(child.__module__)}\b", module, re.MULTILINE)
    nodes = ast.walk(ast.parse(textwrap.dedent(inspect.getsource(parent))))
    return bool(imports or child.__name__ in {node.id for node in nodes if isinstance(node, ast.Name)})


CLASSES = sorted(
    {*SYSTEMS.values(), *PARTS.values(), *(system for family in _FAMILIES for system in family.attached)},
    key=lambda system: system.__name__,
)


@pytest.mark.parametrize("child", CLASSES)
def test_a_parent_does_not_know_its_child(child):
    parents = [parent for parent in child.__mro__[1:] if parent.__module__.startswith("dbdyno.systems")]
    assert parents and not [parent for parent in parents if knows(parent, child)]


def test_a_class_that_names_or_imports_another_knows_it():
    class Parent(System):
        def made(self) -> System:
            return MariaDB(self.spec)

    assert knows(Parent, MariaDB) and knows(MySQL, MariaDB) and not knows(MariaDB, MySQL)


@pytest.mark.parametrize("attached", [system for family in _FAMILIES for system in family.attached])
def test_what_is_attached_does_not_inherit_from_what_is_started(attached):
    assert not set(attached.__mro__) & set(SYSTEMS.values())
    assert AttachedMySQL not in MariaDB.__mro__


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mariadd", "no system 'mariadd'; did you mean 'mariadb'?"),
        ("postgres://h/d", "no URL scheme 'postgres'"),
        ("mariadb(redis)", "is not an arrangement"),
        ("cache-aside(memcached, nosuch)", "no system 'nosuch'"),
    ],
)
def test_what_is_no_system_is_refused(text, said):
    with pytest.raises(UserError) as caught:
        system(text)
    assert said in str(caught.value)


@pytest.mark.parametrize("key", ["requirepass", "init_file", "user", "PORT", "datadir", "bind-address", "socket"])
@pytest.mark.parametrize("name", sorted(set(SYSTEMS) - {arrangement.name for arrangement in ARRANGEMENTS}))
def test_what_is_dbdynos_own_to_set_is_refused_by_its_name(name, key):
    with pytest.raises(UserError, match=f"dbdyno sets '{key}'|reads '{key}' as .*, which dbdyno sets"):
        system(f"{name}?{key}=x")


@pytest.mark.parametrize(
    "text",
    [
        "redis?include=/etc/passwd",
        "redis?Tls-Port=1",
        "valkey?protected-mode=no",
        "postgresql?hba_file=/x",
        "postgresql?Unix-Socket-Directories=/x",
        "ferretdb?backend=postgresql&listen_addresses=*",
        "cassandra?rpc_address=0.0.0.0",
        "cassandra?data_file_directories=[/x]",
        "clickhouse?path=/x",
        "mariadb?datad=/x",
        "mariadb?loose_skip_netw",
        "mysql@8.0?mysqlx_bind_address=*",
        "handlersocket?handlersocket_address=0.0.0.0",
        "mariadb?engine=Spider&backends=2&init_f=/x",
        "replicated(mariadb, mariadb?init-file=/x)",
        "cache-aside(memcached, redis?requirepass=x)",
        "tidb?soc=/x",
    ],
)
def test_so_it_is_however_and_wherever_it_is_written(text):
    with pytest.raises(UserError, match="dbdyno sets"):
        system(text)


def test_what_is_missing_of_an_arrangement_is_what_its_parts_miss(monkeypatch):
    monkeypatch.setattr(SYSTEMS["memcached"], "missing", classmethod(lambda cls: "no memcached"))
    monkeypatch.setattr(SYSTEMS["mariadb"], "missing", classmethod(lambda cls: "no mariadb"))
    assert missing(parse_system("cache-aside(memcached, mariadb)")) == "no memcached; no mariadb"
    assert missing(parse_system("memcached://host")) is None


def test_a_share_of_the_data_becomes_what_the_server_takes():
    both = parse_system("cache-aside(memcached?memory=25%&threads=2, mariadb?innodb_buffer_pool_size=9%)")
    cache, store = sized(both, 100 << 20).parts
    assert cache.settings == {"memory": "30", "threads": "2"}
    # 15.3 MiB: InnoDB makes other sizes smaller, to whole MiB.
    assert store.settings == {"innodb_buffer_pool_size": "16M"}
    assert sized(parse_system("memcached?memory=64"), None).settings == {"memory": "64"}
    assert sized(parse_system("redis?maxmemory-clients=5%"), None).settings == {"maxmemory-clients": "5%"}


def test_a_share_of_nothing_known_and_what_is_no_share_are_refused():
    with pytest.raises(UserError, match="the size of this workload's rows is unknown"):
        sized(parse_system("memcached?memory=25%"), None)
    with pytest.raises(UserError, match="give a share of the data"):
        sized(parse_system("memcached?memory=some%"), 1)
    for share in ("inf%", "nan%", "-1%"):
        with pytest.raises(UserError, match="give a share of the data"):
            sized(parse_system(f"memcached?memory={share}"), 1)
