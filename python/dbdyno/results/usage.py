"""Processors and memory that client and servers used while a trial was measured."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dbdyno.errors import UserError
from dbdyno.results.foreign_content import WRONG
from dbdyno.results.model import Usage

if TYPE_CHECKING:
    from dbdyno.results.facts import TrialFacts
    from dbdyno.results.samples import Observations

_BAND, _RESIDENT, _PRIVATE = "process.", ".resident_bytes", ".private_bytes"
_CPU = (".cpu_user_s_total", ".cpu_system_s_total")


def usage_of(observations: Observations | None, measured_unix_s: tuple[float, float] | None) -> tuple[Usage, ...]:
    """Return what each observed process used.

    Args:
        measured_unix_s: from when to when, in seconds since the epoch; where it is not known there is no CPU figure.
    """
    if observations is None:
        return ()
    processes = [name for name in observations.names(_BAND) if name.endswith(_RESIDENT)]
    return tuple(
        Usage(
            name.removeprefix(_BAND).removesuffix(_RESIDENT),
            _cores(observations, name.removesuffix(_RESIDENT), measured_unix_s),
            int(np.nanmax(observations.columns[name])),
            _most(observations, name.removesuffix(_RESIDENT) + _PRIVATE),
        )
        for name in processes
    )


def _most(observations: Observations, name: str) -> int | None:
    values = observations.columns.get(name)
    return None if values is None or np.isnan(values).all() else int(np.nanmax(values))


def _cores(observations: Observations, process: str, measured_unix_s: tuple[float, float] | None) -> float | None:
    if measured_unix_s is None:
        return None
    rates = [observations.mean_rate(process + kind, *measured_unix_s) for kind in _CPU]
    known = [rate for rate in rates if rate is not None]
    return sum(known) if len(known) == len(rates) else None


def stated_usage(facts: TrialFacts, path: Path) -> tuple[Usage, ...]:
    """Return what `trial.json` says was used; nothing if the trial was not observed, or not closed.

    Raises:
        UserError: it cannot be understood.
    """
    try:
        return tuple(
            Usage(process["process"], process["cores"], process["resident_bytes"], process.get("private_bytes"))
            for process in facts.usage or ()
        )
    except WRONG as error:
        raise UserError(f"{path}: its 'usage' cannot be understood: {error!r}") from error
