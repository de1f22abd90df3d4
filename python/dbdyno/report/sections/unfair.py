"""Unfair conclusions from a run: what a reader must know before quoting a figure (docs/statistics.md, section 7)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dbdyno.report.core import words
from dbdyno.report.core.documents import RunDocument
from dbdyno.report.core.names import listed
from dbdyno.report.core.page import Page
from dbdyno.report.core.section import Part, Section
from dbdyno.report.core.steadiness import remarks
from dbdyno.report.core.trial_documents import TrialDocument
from dbdyno.report.sections.analyses import analysed
from dbdyno.report.sections.libraries import understated


def unfair(document: RunDocument) -> Iterator[str]:
    """Yield each caution in a sentence, the gravest first."""
    trials = [trial for trial in document["trials"] if trial["system"] is not None]
    if sentence := words.run_state(document):
        yield sentence
    if wrong := sum(trial["mismatches"] for trial in trials):
        yield f"{wrong:,} read{'s were' if wrong > 1 else ' was'} wrong: the figures of that store do not count."
    yield from _promises(document)
    yield from _limits(trials)
    if disturbed := [cores for trial in trials if (cores := trial["others_cores"])]:
        most = max(disturbed)
        yield (
            f"The host had other work: up to {most:.2g} of its processors went to other processes during "
            f"{len(disturbed)} of {len(trials)} trials."
        )
    if trials and max(trial["repeat"] or 1 for trial in trials) == 1:
        yield "One trial each: two runs of one store also differ, and one trial does not show by how much."
    if not analysed(document["trials"]):
        yield from remarks(trials)
    yield from _where_it_ran(trials)
    yield from understated(document)
    if warned := sum(bool(trial["warnings"]) for trial in document["trials"]):
        yield f"{warned} trial{'s carry' if warned > 1 else ' carries'} a warning: see Checks."


def _promises(document: RunDocument) -> Iterator[str]:
    """Yield what stores promise with an answer, and doubts whether they keep it."""
    classes = words.durability_classes(document)
    if len(classes) > 1:
        by_class = {
            name: _labels(trial for trial in document["trials"] if trial["durability"] == name) for name in classes
        }
        said = "; ".join(f"{name}: {labels}" for name, labels in by_class.items())
        yield f"Durability differs, so a ranking compares two promises ({said})."
    for badge in ("flush in doubt", "answers not checked"):
        if systems := [system["label"] for system in document["fairness"]["systems"] if badge in system["badges"]]:
            yield f"{badge.capitalize()}: {listed(systems)} (see the fairness card)."


def _limits(trials: list[TrialDocument]) -> Iterator[str]:
    if limited := [trial for trial in trials if trial["client_limited"]]:
        yield (
            f"{len(limited)} of {len(trials)} trials were limited by the client, or near its ceiling, so their "
            f"figures are lower bounds: {_labels(limited)}."
        )
    if behind := _labels(trial for trial in trials if trial.get("followed") is False):
        yield f"Could not follow the offered rate, so response times mainly say how long the trial was: {behind}."


def _where_it_ran(trials: list[TrialDocument]) -> Iterator[str]:
    embedded = _labels(trial for trial in trials if trial["embedded"])
    attached = [trial for trial in trials if trial["attached"]]
    here = [trial for trial in attached if _is_observed(trial)]
    unseen = _labels(trial for trial in attached if trial not in here)
    if embedded:
        yield f"Embedded, so client CPU includes the store's and no network is used: {embedded}."
    if unseen:
        yield f"Attached, so neither the server's CPU nor its host was observed: {unseen}."
    if here or any(not trial["attached"] and not trial["embedded"] for trial in trials):
        yield f"Client and servers shared one host; {_pinning(trials)}."


def _is_observed(trial: TrialDocument) -> bool:
    """Return whether a process other than the client was observed: then an attached server is on this host."""
    return any(process["process"] != "client" for process in trial["processes"])


def _labels(trials: Iterable[TrialDocument]) -> str:
    return listed(trial["label"] for trial in trials)


def _pinning(trials: list[TrialDocument]) -> str:
    pinned = {(str(trial["client_cpus"]), str(trial["server_cpus"])) for trial in trials if trial["client_cpus"]}
    if not pinned:
        return "neither was pinned to processors"
    if len(pinned) > 1:
        return "each trial's processors are under Settings"
    client, server = (cpus.strip("[]") for cpus in pinned.pop())
    return f"the client was pinned to CPU {client}, servers to {server}"


def part(page: Page) -> Part | None:
    """Return the sentences, if there are any."""
    sentences = list(unfair(page.document))
    return Part({"sentences": sentences}) if sentences else None


SECTION = Section("unfair.html.j2", part)
