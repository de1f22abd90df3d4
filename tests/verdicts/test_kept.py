"""Verdicts that are kept, and the page that is made of them."""

from dataclasses import replace
from pathlib import Path

from .case import Variant
from .cases import CASES
from .grade import Verdict
from .kept import PAGE, RESULT, Kept, read_kept
from .table import document

ROOT = Path(__file__).parents[2]


def test_verdicts_are_read_as_they_were_written_and_a_repetition_replaces_itself(tmp_path):
    made = Verdict(CASES[0], Variant.PINNED, 1, "client", "low", "It was the client.", 100.0, "2026-11-28")
    control = replace(made, scenario=CASES[0].load, repeat=2)
    kept = Kept({}, {"other": "not installed"}, {"broken": "it ended"}, processors=2)
    for verdict in (replace(made, limit="network"), made, control):
        kept.add(verdict)
    kept.write(tmp_path / "kept.jsonl")
    assert read_kept(tmp_path / "kept.jsonl") == kept
    assert list(kept.verdicts.values()) == [made, control]
    assert read_kept(tmp_path / "none.jsonl").verdicts == {}


def test_a_case_or_variant_that_is_gone_is_left_out(tmp_path):
    made = Verdict(CASES[0], Variant.PINNED, 1, "client", "low", "It was the client.", 100.0)
    gone = replace(made, scenario=replace(CASES[0], name="gone"))
    unpinned = next(case for case in CASES if case.ways == (Variant.UNPINNED,))
    kept = Kept()
    for verdict in (made, gone, replace(made, scenario=unpinned)):
        kept.add(verdict)
    kept.write(tmp_path / "kept.jsonl")
    assert list(read_kept(tmp_path / "kept.jsonl").verdicts.values()) == [made]


def test_the_page_is_made_of_the_kept_verdicts():
    assert (ROOT / PAGE).read_text(encoding="utf-8") == document(read_kept(ROOT / RESULT))
