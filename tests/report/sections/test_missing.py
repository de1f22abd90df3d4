"""Missing trials and systems are named, each with the reason."""

from dbdyno.report.core.page import Page
from dbdyno.report.sections.missing import part


def test_skipped_systems_and_broken_trials_are_named(run_document):
    missing = dict(part(Page(run_document)).content["missing"])
    assert missing["valkey"] == "skipped: valkey-server is not installed: apt install valkey"
    assert missing["mariadb, 4 clients"] == "failed: mariadb was killed (signal 9) 1 s into the run"
    complete = [trial for trial in run_document["trials"] if trial["state"] == "complete"]
    assert part(Page(run_document | {"trials": complete, "skipped": [], "left_out": []})) is None
