"""Runs as a JUnit report, which CI systems show: a run is a test suite, a trial is a test."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from xml.etree import ElementTree

from dbdyno.report.core.documents import RunDocument
from dbdyno.report.core.trial_documents import TrialDocument
from dbdyno.report.document import document
from dbdyno.results.limits import judged_limits
from dbdyno.results.model import Run
from dbdyno.tables.redaction import redacted_text
from dbdyno.tables.trials import name_of

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML may hold; messages of servers may."""


def to_junit(runs: Sequence[Run]) -> str:
    """Return runs as one JUnit report.

    A trial that failed or was cut short is an error. A broken limit is a failure, and so is a failed operation unless
    the experiment has a limit on errors. A trial that was not reached and a system that was left out are skipped.
    """
    return rendered([_suite(run) for run in runs])


def rendered(suites: Sequence[ElementTree.Element]) -> str:
    """Return test suites as a report, each with its numbers of tests."""
    for suite in suites:
        _count(suite)
    root = ElementTree.Element("testsuites", {"name": "dbdyno", **_added(suites)})
    root.extend(suites)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _suite(run: Run) -> ElementTree.Element:
    run_document = document(run, timelines=False)
    broken: dict[str, list[str]] = {}
    limits = judged_limits(run)
    for limit in limits:
        if not limit.holds:
            broken.setdefault(limit.trial, []).append(f"{limit.limit}: {limit.words}")
    own_errors = not any(limit.limit.startswith("errors") for limit in limits)
    suite = ElementTree.Element("testsuite", name=text_of(name_of(run)))
    for trial in run_document["trials"]:
        suite.append(_case(run_document, trial, broken.get(trial["trial"], []), own_errors))
    for skipped in run_document["skipped"]:
        case = ElementTree.SubElement(
            suite,
            "testcase",
            name=text_of(str(skipped["system"])),
            classname=text_of(str(run_document["experiment"])),
            time="0",
        )
        ElementTree.SubElement(case, "skipped", message=text_of(str(skipped["reason"])))
    if run_document["started_unix_s"]:
        suite.set(
            "timestamp", datetime.fromtimestamp(run_document["started_unix_s"], UTC).isoformat(timespec="seconds")
        )
    return suite


def _count(suite: ElementTree.Element) -> None:
    tests = {kind: str(len(suite.findall(f"testcase/{kind}/.."))) for kind in ("failure", "error")}
    suite.attrib |= {"failures": tests["failure"], "errors": tests["error"]}
    suite.attrib |= {"tests": str(len(suite)), "skipped": str(len(suite.findall("testcase/skipped")))}
    suite.set("time", f"{sum(float(case.get('time', 0)) for case in suite):.3f}")


def _case(run: RunDocument, trial: TrialDocument, broken: Sequence[str], own_errors: bool) -> ElementTree.Element:
    reached = trial["workload"] is not None
    case = ElementTree.Element(
        "testcase",
        name=text_of(_name(trial) if reached else trial["trial"]),
        classname=text_of(f"{run['experiment']}.{trial['workload']}" if reached else str(run["experiment"])),
        time=f"{(trial['seconds'] or 0) + (trial['warmup_seconds'] or 0):.3f}",
    )
    if not reached or trial["state"] == "not reached":
        ElementTree.SubElement(case, "skipped", message="not reached")
    elif trial["state"] != "complete":
        ElementTree.SubElement(case, "error", message=text_of(trial["reason"] or trial["state"]), type=trial["state"])
    else:
        failures = [("limit", what) for what in broken]
        if trial["errors"] and own_errors:
            failures.append(("errors", f"{trial['errors']:,} operations failed"))
        for kind, what in failures:
            ElementTree.SubElement(case, "failure", message=text_of(what), type=kind)
    if reached and trial["throughput_per_s"] is not None:
        ElementTree.SubElement(case, "system-out").text = text_of(_figures(trial))
    return case


def _name(trial: TrialDocument) -> str:
    rate = f", {trial['rate']['words']}" if trial["rate"] and trial["rate"].get("words") else ""
    repeat = f", repetition {trial['repeat']}" if (trial["repeat"] or 1) > 1 else ""
    return f"{trial['label']}, {trial['clients']} client{'' if trial['clients'] == 1 else 's'}{rate}{repeat}"


def _figures(trial: TrialDocument) -> str:
    transaction = trial["transaction"]
    name = "response time" if transaction.get("response_time_us") else "service time"
    times_us = transaction.get("response_time_us") or transaction["service_time_us"]
    known = [f"{key} {us / 1000:.3g} ms" for key in ("p50", "p99", "max") if (us := times_us[key]) is not None]
    said = f"{trial['throughput_per_s']:,.0f} transactions/s"
    lines = [said, f"{name}: {', '.join(known)}"] if known else [said]
    return "\n".join([*lines, *([trial["verdict"].sentence] if trial["verdict"] else [])])


def _added(suites: Sequence[ElementTree.Element]) -> dict[str, str]:
    counts = ("tests", "failures", "errors", "skipped")
    return {name: str(sum(int(suite.get(name, 0)) for suite in suites)) for name in counts}


def text_of(text: str) -> str:
    """Return a text as XML may hold it, without passwords."""
    return _NOT_XML.sub("�", redacted_text(text))
