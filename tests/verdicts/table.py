"""The table of cases with their verdicts, as Markdown."""

import pytest

VERDICTS = pytest.StashKey[list]()

HEAD = """\
# Known causes and their verdicts

`make test-verdicts` injects known causes into real servers and compares dbdyno's verdicts with them. It writes this
page. The cases are in `tests/verdicts/cases.py`. The rules: [statistics.md](statistics.md#5-what-limited-a-trial).

| what was done | must be | verdict | confidence | its sentence |
|---|---|---|---|---|
"""


def table_of(verdicts):
    """Return the rows: what was done, what the verdict must be, and what it was."""
    return "".join(
        f"| {case.what} | {case.limit} | {'' if verdict['limit'] == case.limit else 'WRONG: '}{verdict['limit']} "
        f"| {verdict['confidence']} | {verdict['sentence']} |\n"
        for case, verdict in verdicts
    )
