"""The plots over time read the store's counters."""

from dataclasses import replace

import numpy as np
import pytest

from dbdyno.report.core.recordings import Recordings, recordings_of
from dbdyno.report.core.series import series_of
from dbdyno.report.sections.over_time import by_load
from dbdyno.report.trial_document import _timeline
from dbdyno.results.samples import Observations


@pytest.mark.parametrize(
    ("name", "values", "made"),
    [
        ("checkpoints_total", [5, 5, 6, 6, 8], [2.0, 4.0]),
        ("snapshot_in_progress", [0, 1, 1, 0, 1], [1.0, 4.0]),
        ("checkpoints_requested_total", [5, 5, 6, 6, 6], [2.0]),
        ("checkpoint_pages_total", [5, 9, 16, 26, 28], None),
        ("checkpoint_age_bytes", [100e6, 120e6, 30e6, 40e6, 50e6], [2.0]),
        ("checkpoint_age_bytes", [900, 1200, 300, 2e6, 1.5e6], []),
        ("commands_total", [1, 2, 3, 4, 5], None),
    ],
)
def test_checkpoints_are_told_by_what_the_store_counts(run, run_document, name, values, made):
    trial = next(trial for trial in run.trials if (trial.label, trial.about.get("clients")) == ("mariadb", 2))
    at = trial.recorded.run_began_unix_s + np.arange(5.0)
    known = replace(trial)
    object.__setattr__(known, "observations", Observations(at, {f"store.mariadb.{name}": np.array(values, float)}))
    assert recordings_of(replace(run, trials=(known,))).checkpoints(known.name) == made


@pytest.mark.parametrize(
    ("name", "values", "seen"),
    [
        ("innodb_history_list_length", [3, 9, 27], ([0.0, 1.0, 2.0], [3, 9, 27])),
        ("dead_rows", [5, float("nan"), 7], ([0.0, 2.0], [5, 7])),
        ("dead_rows", [5, 5, 5], None),
        ("connections", [1, 2, 3], None),
    ],
)
def test_old_row_versions_lie_under_the_throughput(run, run_document, name, values, seen):
    trial = next(trial for trial in run.trials if (trial.label, trial.about.get("clients")) == ("mariadb", 2))
    at = trial.recorded.run_began_unix_s + np.arange(3.0)
    known = replace(trial)
    object.__setattr__(known, "observations", Observations(at, {f"store.mariadb.{name}": np.array(values, float)}))
    recordings = recordings_of(replace(run, trials=(known,)))
    assert recordings.old_rows(known.name) == seen
    seconds = {int(second): count for second, count in zip(*seen, strict=True)} if seen else {}
    assert {at["second"]: at["old_rows"] for at in _timeline(known) if "old_rows" in at} == seconds
    old = Recordings(old_rows=lambda name: seen if name == known.name else None)
    figures = [
        part["timeline-old"] for part in by_load(series_of(run_document), old).values() if "timeline-old" in part
    ]
    assert [(trial["data"][0]["x"], trial["data"][0]["y"]) for trial in figures] == ([seen] if seen else [])
