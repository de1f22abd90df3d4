"""The documentation's pictures show what their runs measured, and are marked with the kept summary."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
TRIAL = {"label": "redis", "state": "complete", "clients": 4, "throughput_per_s": 1000.0}

Figures = Callable[[str], ModuleType]


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> Figures:
    """Import a module of the figures' scripts by its name."""
    monkeypatch.syspath_prepend(str(ROOT))
    return lambda name: importlib.import_module(f"scripts.figures.{name}")


def test_a_picture_has_each_system_and_its_mark(figures: Figures, tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    kept.write_text("{}")
    drawn = figures("picture").draw({"trials": [TRIAL, TRIAL | {"clients": 8, "label": "memcached"}]}, kept)
    assert "redis</text>" in drawn and "memcached</text>" in drawn
    assert drawn.endswith(f"<!-- kept.json {figures('declared').digest(kept)} -->\n")


def test_a_picture_of_queries_has_each_query_and_store(figures: Figures, tmp_path: Path) -> None:
    (tmp_path / "kept.json").write_text("{}")
    queries = [{"name": "q0", "hot_s": [0.5, 0.25, 1.0]}, {"name": "q1", "hot_s": []}]
    trials = [TRIAL | {"label": label, "analysis": {"queries": queries}} for label in ("duckdb", "mariadb")]
    drawn = figures("picture").draw({"trials": trials}, tmp_path / "kept.json", "queries")
    assert all(f"{label}</text>" in drawn for label in ("q0", "q1", "duckdb", "mariadb"))


def test_a_picture_of_crashes_has_each_setting_and_kind(figures: Figures, tmp_path: Path) -> None:
    (tmp_path / "kept.json").write_text("{}")
    crash = {"kind": "kill", "acknowledged": 100, "missing": 25}
    trials = [{"crash": crash}, {"crash": crash | {"kind": "power-cut"}}, {"label": "lmdb", "crash": crash}]
    drawn = figures("picture").draw({"trials": [TRIAL | t for t in trials]}, tmp_path / "kept.json", "missing")
    assert all(f"{label}</text>" in drawn for label in ("redis", "lmdb", "kill", "power-cut", "100%"))
    assert figures("picture")._share_missing([crash, crash | {"missing": 0}]) == 0.125
    assert figures("picture")._share_missing([]) == 0
