"""A module is loaded at its first use, and not before; a compiled one without its package."""

import subprocess
import sys

import pytest

from dbdyno.later import LaterModule, load_compiled


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


BOTH = """
import sys
from dbdyno.later import load_compiled
value = load_compiled("pydantic_core", "_pydantic_core").from_json(b'{"a": [1]}')
alone = "pydantic_core" in sys.modules
import pydantic
class Model(pydantic.BaseModel):
    a: list[int]
assert Model(**value).a == [1] and load_compiled("pydantic_core", "_pydantic_core") is sys.modules["pydantic_core"]
print(alone)
"""


def test_a_package_can_be_used_after_its_compiled_module():
    done = subprocess.run([sys.executable, "-c", BOTH], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_package_without_that_module_is_loaded_itself(monkeypatch, tmp_path):
    (tmp_path / "only_for_this_test_too").mkdir()
    (tmp_path / "only_for_this_test_too" / "__init__.py").write_text("ANSWER = 42\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    module = load_compiled("only_for_this_test_too", "_no_such_module")
    assert module.ANSWER == 42 and module is sys.modules["only_for_this_test_too"]
    monkeypatch.delitem(sys.modules, "only_for_this_test_too")
