"""Two made-up systems in one run, of which the second is slower; what differs between them a test puts in."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import pytest

from dbdyno.report.cells import sides_of_run
from dbdyno.report.comparison import compare_sides
from dbdyno.report.why.evidence import Pairs
from dbdyno.results.conclusions import VERDICT_FORMAT
from dbdyno.results.read import read_run
from synthetic_run import SYSTEMS, write_run

FAST = replace(SYSTEMS[2], label="fast")
SLOW = replace(SYSTEMS[2], label="slow", base_us=1350, peak_per_s=6000)


def conclude(folder: Path, limit: str, **bands: float) -> None:
    """Write a verdict into a trial's folder: its limit, and the operations in each band."""
    budget = {"in_flight": sum(bands.values()), "bands": bands, "per_second": {}, "not_seen": []}
    verdict = {"limit": limit, "sentence": "", "evidence": [], "runner_up": None, "confidence": "high", "next": []}
    document = {"format": VERDICT_FORMAT, "client_limited": None, "time_budget": budget, "verdict": verdict}
    (folder / "verdict.json").write_text(json.dumps(document))


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """The run as it is before a test changes its copy."""
    return write_run(tmp_path_factory.mktemp("runs") / "run", (FAST, SLOW), clients=(4,), repeats=4, seconds=4)


@pytest.fixture
def pairs(made, tmp_path) -> Callable[..., Pairs]:
    """Return a function that gives the pairs of the cell; it takes what to change in a trial, by its label."""

    def make(change=lambda label, folder, trial: None) -> Pairs:
        folder = Path(copytree(made, tmp_path / f"run-{len(list(tmp_path.iterdir()))}"))
        for file in folder.glob("trials/*/trial.json"):
            trial = json.loads(file.read_text())
            change(trial["label"], file.parent, trial)
            file.write_text(json.dumps(trial))
        (cell,) = compare_sides(sides_of_run(read_run(folder), None), 0.02, 0.0, False).cells
        assert cell.verdict == "slower"
        return Pairs.of(cell)

    return make
