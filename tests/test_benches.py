"""The benches are run by hand, so that one whose imports have moved would be noticed only then."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MODULES = sorted(path.stem for path in (ROOT / "benches").glob("*.py") if path.stem not in ("__init__", "__main__"))


@pytest.mark.parametrize("name", [*MODULES, "__main__"])
def test_a_bench_can_be_imported(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    module = f"benches.{name}"
    monkeypatch.delitem(sys.modules, module, raising=False)
    assert importlib.import_module(module).__doc__
