"""Builds at a path: those that are none are refused in a line, the others start as the host's own do."""

import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dbdyno.errors import RunFailed, UserError
from dbdyno.experiment.system_spec import parse_system
from dbdyno.systems import SYSTEMS, missing, missing_packages
from dbdyno.systems.builds.build import find_build
from dbdyno.systems.builds.layout import Layout, beside
from dbdyno.systems.postgresql.postgresql import programs
from dbdyno.systems.running.process import find_program
from helpers import need, need_program, system
from systems.builds.scripts import copied, script
from systems.load import rows_read

SERVER = Layout("binary", beside("server"), re.compile(r"Server v=(?P<version>\S+)"))
INSTALLED = Layout("basedir", {"server": ("bin/server", "sbin/server")}, SERVER.says)


def refused(layout, path):
    with pytest.raises(UserError) as error:
        find_build("label", layout, str(path))
    message = str(error.value)
    assert message.startswith("label: ") and "\n" not in message and len(message) < 300
    return message


def test_a_program_is_found_and_says_its_version(folder):
    build = find_build("label", SERVER, str(script(folder / "my-server", "echo Server v=1.2-mine")))
    assert (build.version, build.program("server")) == ("1.2-mine", [str(folder / "my-server")])
    described = build.describe()
    assert (described["path"], described["build_id"]) == (str(folder / "my-server"), None)
    assert re.fullmatch("[0-9a-f]{64}", described["sha256"])


def test_a_path_may_be_relative_or_begin_at_home(folder, monkeypatch):
    script(folder / "server", "echo Server v=1")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(folder))
    assert find_build("label", SERVER, "server").server == find_build("label", SERVER, "~/server").server


@pytest.mark.parametrize(
    ("layout", "name", "expected"),
    [
        (SERVER, "none", r"binary = '.*/none': there is no such file"),
        (INSTALLED, "none", r"basedir = '.*/none': there is no such directory"),
        (SERVER, "", r"is a directory: give the program, .*/server"),
        (INSTALLED, "plain", r"is a file: give the directory of the whole build"),
        (INSTALLED, "", r"has no server: looked for bin/server, sbin/server"),
        (SERVER, "plain", r"plain is not executable: chmod \+x .*/plain"),
        (SERVER, "other", r"other is not server: it gives 'Other v=1' as its version"),
        (SERVER, "silent", r"gives 'nothing' as its version"),
        (SERVER, "arm", r"arm is a program for aarch64, and this host is x86_64"),
        (SERVER, "lacking", r"lacking needs libz\.so\.9: apt install \(what has libz\.so\.9\)"),
    ],
)
def test_what_is_no_build_is_refused(folder, layout, name, expected):
    (folder / "plain").write_text("Server v=1")
    script(folder / "other", "echo Other v=1")
    script(folder / "silent", "exit 1")
    program = Path("/bin/ls").read_bytes()
    (folder / "arm").write_bytes(program[:18] + (183).to_bytes(2, "little") + program[20:])
    (folder / "lacking").write_bytes(program.replace(b"libc.so.6\0", b"libz.so.9\0"))
    assert re.search(expected, refused(layout, folder / name))


def test_a_build_that_the_user_of_servers_cannot_get_to_is_refused(folder):
    script(folder / "server", "echo Server v=1")
    folder.chmod(0o000)
    try:
        assert re.search(
            "closed to others: make it|may not be run by this user|permission denied",
            refused(SERVER, folder / "server"),
        )
    finally:
        folder.chmod(0o755)


def test_a_version_and_a_path_contradict_each_other():
    with pytest.raises(UserError, match=r"mysql@5\.6 is a version and /usr a build: give one of them"):
        system("mysql@5.6?basedir=/usr")


def test_nothing_is_missing_of_a_build_and_nothing_is_to_be_downloaded(folder):
    spec = parse_system(f"valkey?binary={script(folder / 'v', 'echo Valkey server v=9')}")
    assert (missing(spec), missing_packages(spec)) == (None, [])


@pytest.mark.parametrize("name", ["redis", "memcached"])
def test_a_program_copied_elsewhere_starts_and_is_loaded(started, folder, name):
    need(name)
    program = copied(shutil.which(f"{name}-server" if name == "redis" else name), folder)
    server = started(f"{name}?binary={program}")
    assert Path(f"/proc/{server.server_pids()[name]}/exe").readlink() == program
    assert rows_read(server) > 0


def test_a_postgresql_copied_elsewhere_starts_and_has_its_own_tools(started, folder):
    need("postgresql")
    own = programs()
    shutil.copytree(own.parent, folder / "pg", symlinks=True)
    server = started(f"postgresql?bindir={folder}/pg/bin")
    assert server.tool_program("pg_dump") == f"{folder}/pg/bin/pg_dump"
    assert rows_read(server) > 0


def test_a_mariadb_at_its_base_directory_starts(started):
    need("mariadb")
    server = started("mariadb?basedir=/usr&innodb_buffer_pool_size=64M")
    (server_document,) = server.servers()
    assert server_document["effective_settings"]["innodb_buffer_pool_size"] == str(64 << 20)
    assert server.build.version == server_document["version"]


@pytest.mark.versions
def test_a_library_that_one_of_the_build_needs_is_named(folder):
    need_program("gcc", "gcc")
    (folder / "lib").mkdir()
    (folder / "main.c").write_text("int main(void) { return 0; }\n")
    shared = ("gcc", "-shared", "-fPIC", "-Wl,--no-as-needed", "main.c")
    inner, outer = "lib/libinner.so.1", "lib/libouter.so.1"
    for command in (
        (*shared, "-Wl,-soname,libinner.so.1", "-o", inner),
        (*shared, "-Wl,-soname,libouter.so.1", "-o", outer, inner),
        ("gcc", "main.c", "-Wl,--no-as-needed", "-Wl,-rpath-link,lib", "-o", "redis-server", outer),
    ):
        subprocess.run(command, cwd=folder, check=True)
    (folder / inner).unlink()
    with pytest.raises(UserError, match=r"redis-server needs libinner\.so\.1: apt install"):
        system(f"redis?binary={folder}/redis-server")


def test_a_mysql_copied_elsewhere_starts_with_its_own_libraries(started, folder):
    need("mysql@5.6")
    shutil.copytree(system("mysql@5.6").installation().folder, folder / "mysql")
    server = started(f"mysql?basedir={folder}/mysql")
    assert server.build.version == "5.6.24" and rows_read(server) > 0


def test_a_build_that_is_replaced_fails_what_is_measured_and_what_would_be_started(started, folder, launch):
    need("redis")
    program = copied(shutil.which("redis-server"), folder)
    server = started(f"redis?binary={program}")
    assert server.death() is None
    copied(program, folder / "other")
    (folder / "other").rename(program)
    assert server.death() is None, "the same content is the same build"
    script(folder / "other", "echo Redis server v=7").rename(program)
    assert server.death() == f"{program} was replaced by another build"
    with pytest.raises(RunFailed, match="was replaced by another build"):
        server.start_again()
    program.unlink()
    assert f"{program} was removed (" in server.death()


def test_a_build_is_described_with_its_content(started, folder):
    need("redis")
    program = copied(shutil.which("redis-server"), folder)
    server = started(f"redis?binary={program}")
    described = server.origins()["redis"]["build"]
    assert described["sha256"] == hashlib.sha256(program.read_bytes()).hexdigest()
    assert (described["setting"], described["path"]) == ("binary", str(program))
    assert described["version"] == server.servers()[0]["version"]


@pytest.mark.parametrize(
    ("name", "says", "version"),
    [
        ("redis", "Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.2.1 bits=64 build=27", "7.0.15"),
        ("valkey", "Valkey server v=9.1.2 sha=00000000:0 malloc=libc bits=64 build=1", "9.1.2"),
        ("memcached", "memcached 1.6.18", "1.6.18"),
        ("postgresql", "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)", "15.18"),
        ("postgresql", "postgres (PostgreSQL) 19devel", "19devel"),
        ("clickhouse", "ClickHouse server version 18.16.1.", "18.16.1"),
        ("clickhouse", "ClickHouse server version 25.8.2.29 (official build).", "25.8.2.29"),
        ("tidb", "Release Version: v8.4.0-ec8b81b98edc\nEdition: Community", "8.4.0-ec8b81b98edc"),
        ("cassandra", "apache-cassandra-5.0.2.jar", "5.0.2"),
        ("cassandra", "cassandra-all-4.1.3.jar", "4.1.3"),
    ],
)
def test_each_system_knows_its_own(name, says, version):
    matches = {other: system.layout.says.search(says) for other, system in SYSTEMS.items() if system.layout}
    assert matches[name]["version"] == version
    assert [other for other, match in matches.items() if match and other != name] == []


def test_a_program_for_several_purposes_is_told_which(folder):
    text = 'test "$1" = server && echo ClickHouse server version 25.8.2.29'
    general, server = script(folder / "clickhouse", text), script(folder / "clickhouse-server", f"set server; {text}")
    commands = [
        find_build("label", SYSTEMS["clickhouse"].layout, str(path)).program("clickhouse-server")
        for path in (general, server)
    ]
    assert commands == [[str(general), "server"], [str(server)]]


def test_a_server_without_an_option_for_its_version_is_accepted_without_one(folder):
    program = script(folder / "clickhouse-server", "echo Unknown option specified: version; exit 78")
    assert find_build("label", SYSTEMS["clickhouse"].layout, str(program)).version == "unknown"


@pytest.mark.systems
def test_the_clickhouse_of_the_host_starts_by_its_path(started):
    need("clickhouse")
    (server_document,) = started(f"clickhouse?binary={find_program('clickhouse-server')}").servers()
    assert server_document["version"][0].isdigit()


def test_a_cassandra_has_its_version_in_the_name_of_a_file(folder):
    (folder / "lib").mkdir()
    (folder / "lib/apache-cassandra-5.0.2.jar").write_text("")
    assert find_build("label", SYSTEMS["cassandra"].layout, str(folder)).version == "5.0.2"


def test_a_build_that_does_not_start_says_why_in_its_own_words_and_leaves_nothing(launch, folder):
    text = 'case "$1" in --version) echo Redis server v=7;; *) echo "FATAL: no luck today"; exit 1;; esac'
    server = system(f"redis?binary={script(folder / 'redis-server', text)}")
    with pytest.raises(UserError, match="redis did not start: FATAL: no luck today"):
        server.start(launch)
    directory = server._directory.path
    server.stop()
    assert not directory.exists()


def test_a_run_of_what_is_no_build_ends_with_status_2_and_leaves_nothing(folder, tmp_path):
    command = [sys.executable, "-m", "dbdyno", "run", "point-get", "--out", str(tmp_path / "runs"), "--system"]
    done = subprocess.run([*command, f"redis?binary={folder}/none"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"dbdyno: redis: binary = '{folder}/none': there is no such file\n"
    assert not (tmp_path / "runs").exists()
