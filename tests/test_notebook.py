"""The notebook of the Python API runs from its first cell to its last, on a real run."""

import json
from pathlib import Path

import pytest

from golden.stored import unpack

NOTEBOOK = Path(__file__).parent.parent / "docs" / "python-api.ipynb"


@pytest.fixture(scope="module")
def cells():
    return json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]


def test_every_cell_runs(cells, tmp_path, monkeypatch, capsys):
    (tmp_path / "runs").mkdir()
    unpack("quickstart", tmp_path / "runs")
    monkeypatch.chdir(tmp_path)
    names = {}
    for number, cell in enumerate(cells):
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"cell {number}", "exec"), names)
    systems = set(names["trials"]["label"])
    printed = capsys.readouterr().out.splitlines()
    assert {line.split(":")[0] for line in printed} == systems and len(systems) == 3
    assert names["per_sample"].max() > 0 and names["seconds"].height > 0


def test_it_is_kept_without_outputs(cells):
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert code and all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
