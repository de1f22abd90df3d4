"""Every format is there, none of them holds a password, and what a format is not made of is refused."""

import sys

import pytest

from dbdyno.errors import UserError
from dbdyno.export.formats import export
from dbdyno.export.names import TABLES_OF
from export.conftest import PASSWORD

EVERY = [(name, table) for name, tables in TABLES_OF.items() for table in (*tables, None)]


@pytest.mark.parametrize(("name", "table"), EVERY)
def test_no_password_is_written(leaking, name, table):
    content, notes = export([leaking], name, table)
    assert content and PASSWORD.encode() not in content and PASSWORD not in str(notes)


@pytest.mark.parametrize(("name", "table"), EVERY)
def test_any_run_is_written(run, faulty, name, table):
    assert len(export([run], name, table).content) > 100
    assert export([faulty], name, table).content


def test_a_table_that_a_format_has_not_is_refused(run):
    with pytest.raises(UserError, match="prometheus has the tables trials, seconds"):
        export([run], "prometheus", "histograms")
    with pytest.raises(UserError, match="junit has no tables"):
        export([run], "junit", "trials")


def test_a_library_that_is_not_installed_is_named(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    with pytest.raises(UserError, match=r"pip install 'dbdyno\[prometheus\]'"):
        export([run], "prometheus", None)


def test_what_otava_leaves_out_is_said(run, faulty):
    with pytest.raises(UserError, match="no complete cell in common"):
        export([run, faulty], "otava", None)
    assert export([run], "otava", None).notes == ()
