"""Markdown has the answer, the tables and the command, and nothing a server said becomes mark-up."""

import re

from dbdyno.report.document import document
from dbdyno.report.headline import headline
from dbdyno.report.markdown import markdown, render
from markdown_blocks import tables_of


def test_it_has_the_answer_the_tables_and_the_command(run, run_document):
    text = markdown(run)
    assert text.startswith("### quickstart\n") and text.endswith("```\n")
    assert "**lmdb was fastest: " in text and "```sh\ndbdyno run quickstart\n```" in text
    assert "What would be unfair to conclude:\n\n- " in text and "AMD EPYC 7B13" in text
    servers, embedded, every = tables_of(text)
    assert ["`redis`"] in [row[:1] for row in servers] and ["`lmdb`"] in [row[:1] for row in embedded]
    assert every[0] == ["clients", "1", "2", "4"]
    assert all("" not in row and len(row) == len(rows[0]) for rows in (servers, embedded, every) for row in rows)


def test_strings_of_the_run_stay_strings(run_document):
    text = render(dict(run_document, question="<b>*a* [x](y)", skipped=[{"system": "`x|y`", "reason": "<img src=x>"}]))
    assert r"\<b\>\*a\* \[x\](y)" in text and r"`'x\|y'`: skipped: \<img src=x\>" in text
    assert re.findall(r"(?<!\\)<(?!/?(?:details|summary)>)", re.sub(r"`[^`]*`", "", text)) == []


def test_repeated_trials_have_their_ratio(plain):
    text = markdown(plain)
    assert "ratio" not in text and "| `mariadb` | D2 |" in text


def test_a_run_without_a_trial_says_so(run_document):
    text = render(dict(run_document, trials=[], environment={}, comparison=None, headline=headline([], None, [])))
    assert "No trial was completed" in text and not tables_of(text)


def test_an_open_loop_says_what_was_offered(opened):
    assert "at offered" in render(opened) and "response time, open loop" in render(opened)


def test_timelines_are_not_needed(run):
    assert render(document(run)) == markdown(run)
