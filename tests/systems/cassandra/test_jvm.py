"""The Java that is used, and the size of its heap."""

import pytest

from dbdyno.systems.cassandra import jvm as cassandra_jvm
from dbdyno.systems.cassandra.jvm import heap_mib, java, java_version, missing_java


@pytest.fixture
def java_that_says(tmp_path, monkeypatch):
    """Make a Java that gives the given description of itself, and have JAVA_HOME point there."""

    def make(said):
        program = tmp_path / "bin" / "java"
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\necho '{said}' >&2\n")
        program.chmod(0o755)
        monkeypatch.setenv("JAVA_HOME", str(tmp_path))
        java_version.cache_clear()
        return str(program)

    yield make
    java_version.cache_clear()


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_292"', 8),
        ('openjdk version "21"', 21),
        ("?", 0),
    ],
)
def test_the_version_is_what_it_says(java_that_says, said, version):
    assert java_version(java_that_says(said)) == version


def test_a_java_with_its_version_in_a_file_is_not_started(java_that_says, tmp_path):
    program = java_that_says('openjdk version "21"')
    (tmp_path / "release").write_text('IMPLEMENTOR="Debian"\nJAVA_VERSION="17.0.15"\n')
    assert java_version(program) == 17


def test_one_that_cassandra_runs_on_will_do_and_another_is_named(java_that_says):
    program = java_that_says('openjdk version "17.0.15"')
    assert java() == program and missing_java() is None
    java_that_says('openjdk version "21.0.1"')
    assert "is Java 21, and Cassandra needs 11 or 17" in missing_java()


def test_where_there_is_none_it_is_said_how_to_get_it(monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(cassandra_jvm, "find_program", lambda _: None)
    assert "apt install openjdk-17-jre-headless" in missing_java()


@pytest.mark.parametrize(("memory_gib", "heap"), [(1, 512), (2, 1024), (4, 1024), (16, 4096), (64, 8192)])
def test_the_heap_is_that_of_cassandras_own_script(memory_gib, heap):
    assert heap_mib(memory_gib << 30) == heap
