"""Compare a store after a crash with what should hold the same rows: its binary log, its replicas."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dbdyno.conduct.promise import BROKEN, KEPT, NONE
from dbdyno.errors import RunFailed
from dbdyno.results.json_types import AgreementStated, ComparisonStated, DifferencesStated
from dbdyno.systems.witness import ABSENT, Versions, Witness

MOST = 3
"""How many rows that differ are named."""


def compare(store: Versions, other: Versions) -> DifferencesStated:
    """Return how many writes of a row only one of both has, and the first rows, each with its two versions.

    A row's versions rise by one with each write, so what is between two of them was written there and not here.
    """
    ahead = {table: versions - other[table] for table, versions in store.items()}
    places = [(table, int(key)) for table, by in ahead.items() for key in np.flatnonzero(by)[:MOST]]
    return {
        "store_only": sum(int(by[by > 0].sum()) for by in ahead.values()),
        "other_only": sum(int(-by[by < 0].sum()) for by in ahead.values()),
        "rows": sum(int(np.count_nonzero(by)) for by in ahead.values()),
        "first": [
            {"table": table, "key": key, "store": _shown(store[table][key]), "other": _shown(other[table][key])}
            for table, key in places[:MOST]
        ],
    }


def _shown(version: np.int64) -> int | None:
    return None if version == ABSENT else int(version)


def missing_of(ledger: Path, pair: Versions) -> int:
    """Return how many acknowledged pairs are not there, a pair being as new as the older of its rows.

    ledger: the file `acknowledged` (docs/contract.md).
    """
    acknowledged = np.fromfile(ledger, "<i8").reshape(-1, 2)[:, 0]
    oldest = np.minimum.reduce(list(pair.values()))[1:]
    return int(np.maximum(acknowledged - np.maximum(oldest, 0), 0).sum())


def read_alone(witnesses: Sequence[Witness], tables: dict[str, int], ledger: Path) -> dict[str, int]:
    """Return what would be missing if one of those that outlive the store took its place, by name."""
    able = [witness for witness in witnesses if witness.outlives and witness.unable is None]
    return {witness.name: missing_of(ledger, witness.alone(tables)) for witness in able}


def hold_against(witness: Witness, store: Versions, tables: dict[str, int], alone: dict[str, int]) -> ComparisonStated:
    """Return the comparison of a store with one witness (docs/run-folder.md)."""
    holds, reason = witness.promise
    unable, odd, differences = witness.unable, None, DifferencesStated()
    if unable is None:
        try:
            other, odd = witness.versions(tables)
        except RunFailed as failure:
            unable = str(failure)
        else:
            differences = compare(store, other)
    return {
        "name": witness.name,
        "promised": holds,
        "reason": reason,
        "unable": unable,
        "odd": odd,
        **differences,
        "alone_missing": alone.get(witness.name),
    }


def agreement_of(comparison: ComparisonStated) -> AgreementStated:
    """Return a comparison with its verdict, as `trial.json` has it."""
    verdict, sentence = judge_agreement(comparison)
    return {**comparison, "verdict": verdict, "sentence": sentence}


def judge_agreement(agreement: ComparisonStated) -> tuple[str, str]:
    """Return whether a promise was kept, as `judge_promise`, and a sentence for a person."""
    name = agreement["name"]
    if agreement["unable"]:
        return NONE, f"the {name} was not compared: {agreement['unable']}"
    differs = bool(agreement["store_only"] or agreement["other_only"])
    verdict = (BROKEN if differs else KEPT) if agreement["promised"] else NONE
    said = _differences(agreement) if differs else f"the {name} holds the same rows"
    notes = [said, f"{'' if agreement['promised'] else 'not '}promised by {agreement['reason']}"]
    if (missing := agreement["alone_missing"]) is not None:
        notes.append(f"alone, before the store came back, it lacked {missing:,} acknowledged writes")
    if agreement["odd"]:
        notes.append(agreement["odd"])
    return verdict, ("BROKE its promise: " if verdict == BROKEN else "") + "; ".join(notes)


def _differences(agreement: ComparisonStated) -> str:
    first = ", ".join(
        f"{row['table']} {row['key']} ({_version(row['store'])} in the store, {_version(row['other'])} there)"
        for row in agreement["first"]
    )
    return (
        f"the {agreement['name']} lacks {agreement['store_only']:,} writes that the store has "
        f"and has {agreement['other_only']:,} that it lacks, in {agreement['rows']:,} rows: {first}"
    )


def _version(version: int | None) -> str:
    return "no row" if version is None else f"version {version:,}"
