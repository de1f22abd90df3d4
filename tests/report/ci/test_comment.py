"""The comment on a pull request."""

from dataclasses import replace

from dbdyno.report.ci.comment import comment
from dbdyno.report.ci.decisions import ended


def test_answer_table_evidence_and_what_to_be_careful_of(decided):
    slower, same = decided
    unstable = ended([replace(same, outcome=None, noise=0.3)], 0.1, 1)
    text = comment([slower, *unstable], 0.1, ("store@1", "store?a=<b>|`c`"), ["other processes busy: cc (7) 90%"])
    assert text.startswith("### dbdyno: 2 comparisons: 1 slower, 1 unstable (margin ±10.0 %)\n")
    assert "base `store@1`, head `store?a=<b>\\|'c''`".replace("''", "'") in text
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) == 4 and rows[2].endswith("🔴 slower |") and rows[3].endswith("🟡 unstable |")
    assert len({row.count(" | ") for row in rows}) == 1
    assert "<details><summary>Why quickstart at 4 clients is slower</summary>" in text
    assert "- quickstart, 4 clients: A/A noise" in text and "- This host: other processes busy: cc (7) 90%" in text
    assert text.endswith("\n") and not text.endswith("\n\n")


def test_without_anything_to_be_careful_of_there_is_no_list(decided):
    text = comment(decided[1:], 0.1, ("a", "b"), [])
    assert "\n- " not in text and "⚪ same" in text
