"""The observations of several hosts are put on the first one's rows, their values unchanged."""

import numpy as np
import pytest

from dbdyno.results.samples import Observations
from dbdyno.results.together import together

AT = np.arange(1000.0, 1010.0)


def host(server, at_s, start=0.0):
    counted = start + np.arange(len(at_s), dtype=float)
    return Observations(
        np.asarray(at_s), {"host.cpu_user_s_total": counted, f"process.{server}.cpu_user_s_total": counted}
    )


def test_the_bands_that_all_hosts_have_are_the_first_ones():
    merged = together([host("a", AT), host("b", AT, start=50.0)])
    assert merged.at_unix_s is AT
    assert merged.columns["host.cpu_user_s_total"][0] == 0.0
    assert merged.columns["process.b.cpu_user_s_total"].tolist() == list(range(50, 60))


@pytest.mark.parametrize("apart_s", [-0.5, -0.3, 0.01, 0.5])
def test_samples_at_other_times_keep_their_pairs_in_spite_of_jitter(apart_s):
    jitter_s = 0.02 * np.array([1, -1] * 5)
    merged = together([host("a", AT), host("b", AT + apart_s + jitter_s)])
    values = merged.columns["process.b.cpu_user_s_total"]
    seen = values[~np.isnan(values)]
    # One at an end may have no row.
    assert len(seen) >= 9 and np.all(np.diff(seen) == 1)
    assert merged.mean_rate("process.b.cpu_user_s_total", 1002.0, 1007.0) == pytest.approx(1.0)


def test_a_sample_that_a_host_lacks_is_not_made_up():
    at_s = np.delete(AT, 4) + 0.1
    values = together([host("a", AT), host("b", at_s)]).columns["process.b.cpu_user_s_total"]
    assert np.isnan(values[4]) and values[3] == 3 and values[5] == 4


def test_a_host_that_saw_nothing_has_no_values():
    merged = together([host("a", AT), host("b", np.array([]))])
    assert np.isnan(merged.columns["process.b.cpu_user_s_total"]).all()
