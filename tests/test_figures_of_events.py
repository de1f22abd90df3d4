"""Blocks about events beside the load have their means and intervals."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
KEYS = ("duration_s", "during_change", "after_change", "during_p99_ms", "without_service_s", "recovered_s")
ONCE = {"mean": 2.5, "low": None, "high": None, "repetitions": 1}


def event(name: str, **figures: Any) -> dict[str, Any]:
    return {"label": "redis", "name": name, "figures": dict.fromkeys(KEYS) | figures}


def test_an_event_has_what_it_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    kinds = importlib.import_module("scripts.figures.kinds")
    change = {"mean": -0.26, "low": -0.305, "high": 0.02, "repetitions": 5}
    none = {"mean": 0.0, "low": 0.0, "high": 0.0, "repetitions": 5}
    run = {"events": [event("dump", duration_s=ONCE, during_change=change, without_service_s=none)]}
    assert kinds.events(None, run).splitlines()[2:] == [
        "| `redis` | dump | 2.5 | −26% [−30% to +2%] | – | – | 0 | – |",
    ]
    assert kinds.disturbances(run) == [
        "`redis`, dump: 2.5 s, throughput −26% [−30% to +2%] meanwhile, 0 s without service."
    ]
    assert kinds.disturbances({}) == []
