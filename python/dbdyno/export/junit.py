"""Runs as a JUnit report, which CI systems show: a run is a test suite, a trial is a test."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from xml.etree import ElementTree

from dbdyno.report.core.documents import RunDocument, TrialDocument
from dbdyno.report.document import document
from dbdyno.results.limits import judged_limits
from dbdyno.results.model import Run
from dbdyno.tables.redacted import redacted_text
from dbdyno.tables.trials import name_of

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML may hold; messages of servers may."""


def to_junit(runs: Sequence[Run]) -> str:
    """Return runs as one JUnit report.

    A trial that failed or was cut short is an error. A broken limit is a failure, and so is a failed operation unless
    the experiment has a limit on errors. A trial that was not reached and a system that was left out are skipped.
    """
    suites = [_suite(run) for run in runs]
    root = ElementTree.Element("testsuites", {"name": "dbdyno", **_added(suites)})
    root.extend(suites)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _suite(run: Run) -> ElementTree.Element:
    shown = document(run, timelines=False)
    broken: dict[str, list[str]] = {}
    limits = judged_limits(run)
    for one in limits:
        if not one.holds:
            broken.setdefault(one.trial, []).append(f"{one.limit}: {one.words}")
    own_errors = not any(one.limit.startswith("errors") for one in limits)
    suite = ElementTree.Element("testsuite", name=_text(name_of(run)))
    for trial in shown["trials"]:
        suite.append(_case(shown, trial, broken.get(trial["trial"], []), own_errors))
    for skipped in shown["skipped"]:
        case = ElementTree.SubElement(
            suite, "testcase", name=_text(str(skipped["system"])), classname=_text(str(shown["experiment"])), time="0"
        )
        ElementTree.SubElement(case, "skipped", message=_text(str(skipped["reason"])))
    tests = {kind: str(len(suite.findall(f"testcase/{kind}/.."))) for kind in ("failure", "error")}
    suite.attrib |= {"failures": tests["failure"], "errors": tests["error"]}
    suite.attrib |= {"tests": str(len(suite)), "skipped": str(len(suite.findall("testcase/skipped")))}
    suite.set("time", f"{sum(float(case.get('time', 0)) for case in suite):.3f}")
    if shown["started_unix_s"]:
        suite.set("timestamp", datetime.fromtimestamp(shown["started_unix_s"], UTC).isoformat(timespec="seconds"))
    return suite


def _case(run: RunDocument, trial: TrialDocument, broken: Sequence[str], own_errors: bool) -> ElementTree.Element:
    reached = trial["workload"] is not None
    case = ElementTree.Element(
        "testcase",
        name=_text(_name(trial) if reached else trial["trial"]),
        classname=_text(f"{run['experiment']}.{trial['workload']}" if reached else str(run["experiment"])),
        time=f"{(trial['seconds'] or 0) + (trial['warmup_seconds'] or 0):.3f}",
    )
    if not reached or trial["state"] == "not reached":
        ElementTree.SubElement(case, "skipped", message="not reached")
    elif trial["state"] != "complete":
        ElementTree.SubElement(case, "error", message=_text(trial["reason"] or trial["state"]), type=trial["state"])
    else:
        failures = [("limit", what) for what in broken]
        if trial["errors"] and own_errors:
            failures.append(("errors", f"{trial['errors']:,} operations failed"))
        for kind, what in failures:
            ElementTree.SubElement(case, "failure", message=_text(what), type=kind)
    if reached and trial["throughput_per_s"] is not None:
        ElementTree.SubElement(case, "system-out").text = _text(_figures(trial))
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


def _text(text: str) -> str:
    return _NOT_XML.sub("�", redacted_text(text))
