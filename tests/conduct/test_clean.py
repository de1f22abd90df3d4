"""Cleaning gives a load client the one phase, on somebody else's store only."""

import pytest

from dbdyno.conduct.clean import clean
from dbdyno.errors import RunFailed, UserError
from dbdyno.experiment.system_spec import parse_system, with_labels
from dbdyno.systems import ATTACHED


def spec(text):
    return with_labels([parse_system(text)])[0]


@pytest.fixture
def fake_url(monkeypatch, fake_system):
    monkeypatch.setitem(ATTACHED, "fake", fake_system)
    monkeypatch.setattr(fake_system, "store_plan", lambda self, secrets: {"kind": "fake"})
    return spec("fake://host")


def test_it_is_told_to_clean_up_and_nothing_else(fake_url, fake_load, fake_system):
    fake_load(refuse="run")
    clean(fake_url)
    assert fake_system.told == ["start", "stop"]


def test_what_could_not_be_removed_is_told(fake_url, fake_load, fake_system):
    fake_load(refuse="cleanup", only_if='"workload": null')
    with pytest.raises(RunFailed, match="fake://host: not everything could be removed"):
        clean(fake_url)
    assert fake_system.told[-1] == "stop"


def test_what_dbdyno_starts_itself_is_not_cleaned():
    with pytest.raises(UserError, match="'mariadb' is no URL"):
        clean(spec("mariadb"))
