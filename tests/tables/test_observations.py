"""An observation is a row a quantity and sample, with the growth of counters."""

from dataclasses import replace

import numpy as np

from dbdyno.tables.observations import COLUMNS, observations_of


def test_every_value_that_was_seen_is_a_row(run):
    names = [column.name for column in COLUMNS]
    rows = [dict(zip(names, row, strict=True)) for row in observations_of([run]).rows()]
    for trial in run.trials:
        observed = trial.observations
        own = [row for row in rows if row["trial"] == trial.name]
        assert len(own) == sum(int((~np.isnan(values)).sum()) for values in observed.columns.values()) > 0
        for name in observed.names():
            named = [row for row in own if row["name"] == name]
            seen = observed.columns[name][~np.isnan(observed.columns[name])]
            assert [row["value"] for row in named] == seen.tolist()
            if name.endswith("_total"):
                rates = observed.rate(name)[~np.isnan(observed.columns[name])]
                assert [row["rate_per_s"] for row in named] == [None if np.isnan(r) else r for r in rates]
                assert named[0]["rate_per_s"] is None and named[1]["rate_per_s"] >= 0
            else:
                assert {row["rate_per_s"] for row in named} == {None}


def test_a_trial_that_was_not_observed_has_no_row(run, tmp_path):
    assert len(observations_of([replace(run, trials=(replace(run.trials[0], folder=tmp_path),))])) == 0
