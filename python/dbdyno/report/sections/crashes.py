"""Acknowledged writes that stores still had after they were killed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from dbdyno.report.core import words
from dbdyno.report.core.named_workload import named_workload

if TYPE_CHECKING:
    from dbdyno.report.core.trial_documents import TrialDocument
    from dbdyno.results.json_types import AgreementStated, CrashStated

WORKLOAD = "durability"
HEADINGS = (
    *("system", "", "crash", "acknow-\nledged", "missing", "back\ns", "half", "not\nacked"),
    *("ready\ns", "read\ns", "promise"),
)
NOTE = (
    "Acknowledged: pairs of rows written until the store was killed. Missing: acknowledged pairs that are gone after "
    "its recovery; back: how long before the last pair the oldest missing one was acknowledged. Half: one row of a "
    "pair without the other, in brackets if they were not one transaction. Not acked: there, but in flight when it was "
    "killed. Ready, read: how long after its restart the server answered, and a first row was read."
)
AGREEMENT_HEADINGS = (
    *("system", "", "crash", "held against", "store\nonly", "there\nonly", "rows", "alone\nmissing", "agreement"),
)
AGREEMENT_NOTE = (
    "Held against: a log or replica that should have the same rows after recovery. Store only, there only: writes that "
    "only one side has, and in how many rows. Alone missing: acknowledged writes (pairs) that it would have lacked if "
    "it had replaced the store before its recovery. Agreement: promised if both are flushed at each commit, or if only "
    "a replica was killed."
)
_RETURN: tuple[Literal["ready_s", "first_read_s"], ...] = ("ready_s", "first_read_s")
_HELD: tuple[Literal["store_only", "other_only", "rows", "alone_missing"], ...] = (
    *("store_only", "other_only", "rows", "alone_missing"),
)
_VERDICTS = {"kept": "kept", "broken": "BROKEN", "nothing promised": "none"}


def crashed(trials: Iterable[TrialDocument]) -> list[TrialDocument]:
    """Return the trials whose store was killed and then read back."""
    return [trial for trial in trials if trial.get("crash")]


def unread(trials: Iterable[TrialDocument]) -> list[TrialDocument]:
    """Return the trials that failed with nothing read back after their crash: most likely the store did not start."""
    return [
        trial
        for trial in trials
        if named_workload(trial["workload"]).name == WORKLOAD and trial["state"] == "failed" and not trial.get("crash")
    ]


def crash_of(trial: TrialDocument) -> CrashStated:
    """Return the crash of a trial that `crashed` named."""
    crash = trial["crash"]
    assert crash is not None, "only trials with a crash come here it"
    return crash


def rows(trials: Sequence[TrialDocument]) -> list[list[str]]:
    """Return a row of `HEADINGS` for each trial."""
    return [_row(trial) for trial in trials]


def _row(trial: TrialDocument) -> list[str]:
    crash = crash_of(trial)
    half = words.whole(crash["half_applied"])
    back = words.significant(crash["lost_back_s"])
    return [
        *(words.label_of(trial), str(trial["durability"]), crash["kind"]),
        *(words.whole(crash["acknowledged"]), words.whole(crash["missing"])),
        f"≥ {back}" if crash["lost_back_is_least"] else back,
        half if crash["writes"] == "transaction" else f"({half})",
        words.whole(crash["unacknowledged"]),
        *(words.significant(crash[key]) for key in _RETURN),
        _VERDICTS[crash["verdict"]],
    ]


def _agreements(trial: TrialDocument) -> Sequence[AgreementStated]:
    # Runs of earlier versions have none.
    return crash_of(trial).get("agreement") or []


def agreement_rows(trials: Sequence[TrialDocument]) -> list[list[str]]:
    """Return a row of `AGREEMENT_HEADINGS` for each binary log and replica of each trial."""
    return [
        [
            *(words.label_of(trial), str(trial["durability"]), crash_of(trial)["kind"], agreement["name"]),
            *(words.whole(agreement.get(key)) for key in _HELD),
            "not compared" if agreement["unable"] else _VERDICTS[agreement["verdict"]],
        ]
        for trial in trials
        for agreement in _agreements(trial)
    ]


def sentence(trials: Sequence[TrialDocument], silent: Sequence[TrialDocument] = ()) -> str:
    """Return the first sentence about crashes: how many stores broke a promise, and which.

    silent: trials that failed before anything was read back.
    """
    bound = [trial for trial in trials if _promised(trial)]
    free = [trial for trial in trials if not _promised(trial)]
    broken = [f"{words.label_of(trial)} ({crash_of(trial)['kind']})" for trial in bound if "broken" in _verdicts(trial)]
    parts = []
    if bound:
        kept = f"BROKEN in {len(broken)}: {', '.join(broken)}" if broken else f"kept in each; {_at_most(len(bound))}"
        parts.append(f"{_crashes(bound)} with a promise: {kept}.")
    if free:
        lost = sum(crash_of(trial)["missing"] > 0 for trial in free)
        parts.append(f"{_crashes(free)} without a promise: acknowledged writes lost in {lost}.")
    if repaired := [f"{words.label_of(trial)} ({command})" for trial in trials if (command := _repair(trial))]:
        named = f"{len(repaired)} store{'' if len(repaired) == 1 else 's'}"
        parts.append(f"{named} started only after a repair: {', '.join(repaired)}.")
    if silent:
        parts.append(f"{_crashes(silent)} left NOTHING to read: {', '.join(map(words.label_of, silent))}.")
    return " ".join(parts)


def _repair(trial: TrialDocument) -> str | None:
    """Return the command that the store needed before it started; None if none."""
    repaired = crash_of(trial).get("repaired")
    return repaired["command"] if repaired else None


def _crashes(trials: Sequence[TrialDocument]) -> str:
    return f"{len(trials)} crash{'' if len(trials) == 1 else 'es'}"


def _at_most(crashes: int) -> str:
    """Say which share of crashes may break a promise though none of so many did, at a confidence of 95 %.

    Source: Hanley and Lippman-Hand, "If nothing goes wrong, is everything all right?", JAMA 249 (1983), page 1743.
    """
    return f"up to {words.percent(1 - 0.05 ** (1 / crashes), 1)} of such crashes may still break one (95% confidence)"


def _promised(trial: TrialDocument) -> bool:
    return any(verdict != "nothing promised" for verdict in _verdicts(trial))


def _verdicts(trial: TrialDocument) -> list[str]:
    return [
        crash_of(trial)["verdict"],
        *(agreement["verdict"] for agreement in _agreements(trial) if not agreement["unable"]),
    ]


def sentences(trials: Sequence[TrialDocument]) -> list[str]:
    """Return for each trial whether its promises were kept."""
    return [
        f"{words.label_of(trial)}, {crash_of(trial)['kind']}: {said}."
        for trial in trials
        for said in (crash_of(trial)["sentence"], *(agreement["sentence"] for agreement in _agreements(trial)))
    ]
