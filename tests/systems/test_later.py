"""A module is loaded at its first use, and not before."""

import sys

import pytest

from dbdyno.systems.later import LaterModule


def test_a_module_is_loaded_by_the_first_name_that_is_used(monkeypatch, tmp_path):
    (tmp_path / "only_for_this_test.py").write_text("ANSWER = 42\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    module = LaterModule("only_for_this_test")
    assert "only_for_this_test" not in sys.modules
    assert module.ANSWER == 42
    assert "only_for_this_test" in sys.modules
    monkeypatch.delitem(sys.modules, "only_for_this_test")


def test_a_missing_module_is_missed_where_it_is_used():
    module = LaterModule("no_such_module")
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        _ = module.anything


def test_looking_at_it_loads_nothing():
    module = LaterModule("no_such_module")
    assert not hasattr(module, "__wrapped__")
