"""The documentation's tables of benches are those of kept pairs, taken on a quiet host by the declared command."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
PAIRS = {"row": "load", "placement": "same", "what": "CPU", "unit": "s", "figure_unit": "×", "ours": [1, 2, 4]}
PAIRS |= {"theirs": [4, 4, 4], "figures": [0.25, 0.5, 1.0]}


@pytest.fixture
def benches(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Import the scripts of benches' figures."""
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("scripts.figures.benches")


def test_a_bench_has_its_host_and_the_chosen_figures(benches: ModuleType) -> None:
    settings = {"started_unix_s": 86400, "load_average": [0.1, 0, 0], "dbdyno_load": "dbdyno-load 1", "pairs": 3}
    kept = {"host": {"cpus": 2, "cpu": "AMD"}, "settings": settings, "lines": [PAIRS, PAIRS | {"what": "time"}]}
    kept["lines"].append(PAIRS | {"figures": []})
    bench = benches.Bench("load", "BENCH_ROWS=load make bench", ("CPU",))
    lines = benches.block(bench, kept).splitlines()
    assert lines[0].startswith("Measured on 1970-01-02 with dbdyno-load 1, on 2 processors (AMD, load average 0.10 ")
    assert bench.command in lines and lines[-1] == "| `load` | CPU | `same` | 2 s | 4 s | 0.5 × | 0.25 to 1 |"
    assert json.loads(benches._text(kept | {"command": "c"}))["lines"] == kept["lines"]


def test_every_kept_bench_is_declared_and_its_pairs_were_taken_on_a_quiet_host(benches: ModuleType) -> None:
    declared = benches.benches(ROOT)
    assert {path.stem for path in (ROOT / "results/benches").glob("*.json")} == set(declared)
    for bench in declared.values():
        kept = json.loads((ROOT / bench.result).read_text(encoding="utf-8"))
        assert kept["command"] == bench.command and kept["settings"]["load_average"][0] < 0.5, bench.name
        assert kept["lines"] and all(line["figures"] for line in kept["lines"]), bench.name
