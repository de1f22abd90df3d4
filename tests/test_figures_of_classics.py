"""The classic questions stand in the documentation with both answers, then and now, and with their evidence."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
DAY = {"started_unix_s": 86400}


@pytest.fixture
def classics(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Import the script of the classic questions."""
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("scripts.figures.classics")


def test_a_classic_question_has_both_answers_and_its_evidence(classics: ModuleType, tmp_path: Path) -> None:
    run = classics.Figures(
        "point-get",
        ("dbdyno", "run", "point-get", "--system", "mariadb?a=1"),
        classic="Who is first?",
        then="Nobody.",
        differs="it was never asked.",
    )
    (tmp_path / "results").mkdir()
    (tmp_path / run.result).write_text(
        json.dumps(
            {"headline": {"sentence": "redis is fastest.", "limits": {"redis": "the client"}}, "trials": []} | DAY
        )
    )
    other = classics.Figures("quickstart", ("dbdyno", "run", "quickstart"))
    assert classics.classics(tmp_path, {"point-get": run, "quickstart": other}).split("\n\n") == [
        "### Who is first?",
        "```\ndbdyno run point-get --system 'mariadb?a=1'\n```",
        "**Then**: Nobody.",
        "**Now**, on 1970-01-02: redis is fastest.",
        "**Why they differ**: it was never asked.",
        "**Limited by** the client.",
        "[The page](point-get.md#a-run), [the kept summary](../../results/point-get.json)",
    ]


def test_a_classic_answer_names_the_systems_of_each_limit(classics: ModuleType) -> None:
    limits = classics._limits
    assert limits({}) == [] and limits({"redis": "the disk", "lmdb": "the disk"}) == ["**Limited by** the disk."]
    assert limits({"redis": "the disk", "lmdb": "the CPU", "a, b": "the disk"}) == [
        "**Limited by**:\n\n- the disk: `redis`, `a, b`\n- the CPU: `lmdb`"
    ]


def test_a_page_begins_with_what_was_found_then_and_now(classics: ModuleType) -> None:
    declared, answer = classics.Figures, classics.answer
    run = DAY | {"headline": {"sentence": "redis is fastest."}, "trials": []}
    asked = declared("f", ("dbdyno", "run", "f"), classic="Who?", then="Nobody.", differs="it was never asked.")
    assert answer(asked, run) == (
        "**Then**: Nobody.\n\n**Now**, on 1970-01-02: redis is fastest.\n\n**Why they differ**: it was never asked."
    )
    unpublished = declared("f", ("dbdyno", "run", "f"), classic="Who?", then="–")
    assert answer(unpublished, run) == "**Now**, on 1970-01-02: redis is fastest."
