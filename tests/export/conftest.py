"""Runs for the tests of all formats: an ordinary one, one with faults and one that holds passwords wherever it may."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from xmlschema import XMLSchema

from dbdyno.results.read import read_run
from synthetic_run import SYSTEMS, write_run

PASSWORD = "hunter2"
"""In each place of the run `leaking` that other programs write into."""


@pytest.fixture(scope="package")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "small"
    return read_run(write_run(folder, SYSTEMS[2:], clients=(1, 2), seconds=3, rates=(None, 800)))


@pytest.fixture(scope="package")
def faulty(tmp_path_factory):
    """A run of lmdb: one client was not reached, with two the server died, with four all is well."""
    faults = {("lmdb", 1): "not-reached", ("lmdb", 2): "server-died"}
    return read_run(write_run(tmp_path_factory.mktemp("run") / "faulty", SYSTEMS[1:2], (1, 2, 4), faults=faults))


@pytest.fixture(scope="package")
def leaking(tmp_path_factory):
    url = f"mysql://me:{PASSWORD}@db.example/test"
    system = replace(SYSTEMS[2], system="mariadb", label=url, settings=(("masterauth", f"{PASSWORD} {PASSWORD}"),))
    folder = write_run(tmp_path_factory.mktemp("run") / "leaking", (system,), (1, 2), 2, faults={(url, 1): "outage"})
    for file in (folder / "run.json", *folder.glob("trials/*/trial.json")):
        document = json.loads(file.read_text())
        document["reason"] = f"cannot connect to {url}"
        if file.name == "run.json":
            document |= {"skipped": [{"system": url, "reason": f"requirepass={PASSWORD} is refused"}], "run": url}
        elif document["clients"] == 2:
            document["state"] = "failed"
        file.write_text(json.dumps(document))
    assert any(PASSWORD in file.read_text() for file in folder.glob("trials/*/trial.json"))
    return read_run(folder)


@pytest.fixture(scope="package")
def junit() -> Callable[[str], ElementTree.Element]:
    """Return a function that reads a JUnit report, and fails if `junit.xsd` does not allow it."""
    schema = XMLSchema(Path(__file__).with_name("junit.xsd"))

    def read(text: str) -> ElementTree.Element:
        schema.validate(text)
        return ElementTree.fromstring(text)

    return read
