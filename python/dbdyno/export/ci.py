"""The files that `dbdyno ci` leaves for other programs: `ci.json`, `ci.md`, `junit.xml` and `otava.csv`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from xml.etree import ElementTree

from dbdyno.contract import JsonObject
from dbdyno.export.junit import rendered, text_of
from dbdyno.export.otava import to_otava_row
from dbdyno.report.ci.comment import comment
from dbdyno.report.ci.decisions import NOT_JUDGED, Decided
from dbdyno.results.model import Run
from dbdyno.stats.comparison import SLOWER
from dbdyno.stats.sequential import UNSTABLE
from dbdyno.tables.redaction import redacted_document, redacted_text


def ci_files(
    decided: Sequence[Decided], runs: Sequence[Run], document: JsonObject, sides: tuple[str, str]
) -> dict[str, str]:
    """Return the files by name.

    Args:
        document: as `ci_document` returned it. sides: what base and head are.
    """
    text = json.dumps(redacted_document(document), ensure_ascii=False, indent=1)
    return {
        "ci.json": f"{text}\n",
        "ci.md": redacted_text(comment(decided, document["margin"], sides, document["host"])),
        "junit.xml": ci_junit(decided),
        "otava.csv": to_otava_row(runs),
    }


def ci_junit(decided: Sequence[Decided]) -> str:
    """Return the comparisons as one JUnit test suite.

    A comparison that is slower is a failure, one that was not judged an error, an unstable one is skipped.
    """
    suite = ElementTree.Element("testsuite", name="dbdyno ci")
    for comparison in decided:
        trials = [trial for side in comparison.compared.trials for trial in side]
        case = ElementTree.SubElement(
            suite,
            "testcase",
            name=text_of(f"{comparison.compared.cell.workload}, {comparison.compared.cell.load}"),
            classname=text_of(comparison.experiment),
            time=f"{sum(trial.recorded.seconds for trial in trials):.3f}",
        )
        said = f"{comparison.outcome}: {comparison.reason or comparison.interval}"
        tag = {SLOWER: "failure", NOT_JUDGED: "error", UNSTABLE: "skipped"}.get(str(comparison.outcome))
        if tag:
            problem = ElementTree.SubElement(case, tag, message=text_of(said))
            if tag != "skipped":
                problem.set("type", str(comparison.outcome))
        ElementTree.SubElement(case, "system-out").text = text_of(
            f"{comparison.interval}, {len(comparison.rates_per_s[0])} pairs"
        )
    return rendered([suite])
