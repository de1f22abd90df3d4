"""The thresholds that docs/statistics.md states are those of the code."""

import importlib
import re
from pathlib import Path

import pytest

DOCUMENT = Path(__file__).parents[2] / "docs" / "statistics.md"
ROW = re.compile(r"^\| [^|]+ \| ([\d.,]+)( %)?[^|]* \| `([\w.]+)\.([A-Z][A-Z0-9_]*)` \|$", re.MULTILINE)
STATED = ROW.findall(DOCUMENT.read_text(encoding="utf-8"))


def test_every_row_of_the_table_is_understood():
    _, table = DOCUMENT.read_text(encoding="utf-8").split("## 10. Thresholds")
    assert len(STATED) == table.count("\n| ") - 1 > 40


@pytest.mark.parametrize(("value", "percent", "module", "name"), STATED, ids=[row[3] for row in STATED])
def test_a_threshold_is_what_is_documented(value, percent, module, name):
    stated = float(value.replace(",", "")) / (100 if percent else 1)
    assert getattr(importlib.import_module(f"dbdyno.{module}"), name) == pytest.approx(stated)
