"""The comment on a pull request."""

from dataclasses import replace

from dbdyno.report.ci.comment import comment
from dbdyno.report.ci.decisions import ended
from markdown_blocks import html_of, tables_of, tokens_of


def test_answer_table_evidence_and_what_to_be_careful_of(decided):
    slower, same = decided
    unstable = ended([replace(same, outcome=None, noise=0.3)], 0.1, 1)
    text = comment([slower, *unstable], 0.1, ("store@1", "store?a=<b>|`c`"), ["other processes busy: cc (7) 90%"])
    assert text.startswith("### dbdyno: 2 comparisons: 1 slower, 1 unstable (margin ±10.0 %)\n")
    assert "base `store@1`, head `store?a=<b>\\|'c''`".replace("''", "'") in text
    ((headings, first, second),) = tables_of(text)
    assert (len(headings), first[-1], second[-1]) == (7, "🔴 slower", "🟡 unstable")
    assert "<details><summary>Why quickstart: game at 4 clients is slower</summary>" in text
    assert (
        "- quickstart: game, 4 clients: A/A noise" in text and "- This host: other processes busy: cc (7) 90%" in text
    )
    assert text.endswith("\n") and not text.endswith("\n\n")


def test_without_anything_to_be_careful_of_there_is_no_list(decided):
    text = comment(decided[1:], 0.1, ("a", "b"), [])
    assert "\n- " not in text and "⚪ same" in text


def test_names_and_reasons_of_others_stay_text_for_a_parser(decided):
    name = "<img src=x>|`a`*b*[c](d)\n| e |"
    odd = [replace(each, experiment=name, reason=f"{name} & ~~gone~~") for each in decided]
    text = comment(odd, 0.1, (name, f"{name}`"), [name])
    (rows,) = tables_of(text)
    assert [len(row) for row in rows] == [7] * (len(odd) + 1)
    assert all(html.startswith(("<details><summary>", "</details>")) and "<img" not in html for html in html_of(text))
    kinds = {child.type for token in tokens_of(text) for child in token.children or ()}
    assert kinds <= {"text", "code_inline", "text_special"}
