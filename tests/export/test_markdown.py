"""Markdown is that of the report, run after run."""

from dbdyno.export.markdown import to_markdown
from dbdyno.report.markdown import markdown


def test_it_is_that_of_the_report(run, faulty):
    assert to_markdown([run]) == markdown(run)
    assert to_markdown([run, faulty]) == f"{markdown(run)}\n{markdown(faulty)}"
