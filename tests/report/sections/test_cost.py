"""A transaction's cost is what its processes used, over its throughput; what was not seen is not made up."""

from dataclasses import replace

import pytest

from dbdyno.report.core.page import Page
from dbdyno.report.core.series import series_of
from dbdyno.report.sections.cost import cost, figure, part

from ..core.drawn import by_series


def of(run, label, clients=2):
    return next(t for t in run.trials if t.system and t.label == label and t.about["clients"] == clients)


def test_cpu_of_all_servers_counts_and_an_embedded_store_has_none(run):
    both = cost(of(run, "cache-aside(memcached, mariadb)"))
    assert both["server_cpu_us"] == pytest.approx(120, rel=0.02) and both["client_cpu_us"] == pytest.approx(
        25, rel=0.02
    )
    assert cost(of(run, "sqlite"))["server_cpu_us"] is None


def test_what_was_observed_of_a_process_is_divided_by_the_throughput(run):
    trial = of(run, "mariadb")
    rate = trial.recorded.throughput_per_s
    seen = {"voluntary_switches_total": 3 * rate, "involuntary_switches_total": rate, "written_bytes_total": 100 * rate}
    costs = cost(replace(trial, observed={f"process.mariadb.{name}": value for name, value in seen.items()}))
    assert costs["context_switches"] == pytest.approx(4) and costs["bytes_written"] == pytest.approx(100)
    assert costs["bytes_read"] is None and costs["bytes_on_disk"] is None


def test_a_trial_of_nothing_has_no_cost(run):
    unreached = next(trial for trial in run.trials if trial.system is None)
    assert set(cost(unreached).values()) == {None}


def test_what_the_client_used_is_not_what_a_server_that_was_not_seen_used(run):
    used = {f"process.client.{name}_total": 1000.0 for name in ("read_bytes", "written_bytes", "voluntary_switches")}
    used["process.client.involuntary_switches_total"] = 1000.0
    kept = ("context_switches", "bytes_read", "bytes_written")
    unseen = cost(replace(of(run, "mariadb"), usage=(), observed=used))
    assert [unseen[key] for key in kept] == [None] * 3 and unseen["server_cpu_us"] is None
    embedded = cost(replace(of(run, "sqlite"), observed=used))
    assert None not in [embedded[key] for key in kept]


def test_where_one_of_two_servers_was_not_seen_the_others_cost_is_not_the_stores(run):
    both = of(run, "cache-aside(memcached, mariadb)")
    memcached_only = replace(both, usage=tuple(used for used in both.usage if used.process != "mariadb"))
    assert cost(memcached_only)["server_cpu_us"] is None


def test_server_cpu_stands_on_the_clients(run_document):
    plot = figure(series_of(run_document))
    client, server = by_series(plot, 2)
    assert server["base"] == pytest.approx(client["y"], abs=0.001)
    assert len(by_series(plot, 0)) == 1
    assert plot["layout"]["yaxis"]["rangemode"] == "tozero"


def test_the_section_applies_to_runs_of_clients(run_document):
    assert part(Page(run_document)).figures.keys() == {"cost"}
    assert part(Page(run_document, clients_loaded=False)) is None
