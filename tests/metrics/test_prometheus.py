"""Prometheus's own parser reads each scrape, and a scrape is of its moment."""

import socket
from urllib.request import urlopen

import pytest
from prometheus_client import parser

from dbdyno.errors import UserError
from dbdyno.metrics.endpoint import Endpoint, delivered
from metrics.conftest import LABELS, ended, interval

ANY = Endpoint("prometheus", "127.0.0.1", 0)


def scraped(address):
    with urlopen(address) as answer:
        families = parser.text_string_to_metric_families(answer.read().decode())
        return {sample.name: sample for family in families for sample in family.samples}


def test_each_scrape_is_of_its_moment(figures, trial):
    with delivered(figures, ANY) as delivery:
        assert "dbdyno_transactions_total" not in scraped(delivery.address)
        figures.trial_begins(trial)
        figures.record_came(interval(2000, errors={"timeout": 3}))
        samples = scraped(delivery.address)
        assert (samples["dbdyno_transactions_total"].value, samples["dbdyno_transactions_total"].labels) == (
            2000,
            LABELS,
        )
        assert samples["dbdyno_operations_failed_total"].labels == LABELS | {"kind": "timeout"}
        assert samples["dbdyno_client_cpu_seconds_total"].value == 0.25
        assert samples["dbdyno_transactions_per_second"].value == 2000
        assert samples["dbdyno_latency_seconds"].labels["statistic"] == "max"
        figures.trial_ended(ended(trial, "failed"))
        samples = scraped(delivery.address)
        assert "dbdyno_transactions_per_second" not in samples and "dbdyno_transactions_total" in samples
        assert samples["dbdyno_trials_ended_total"].labels["state"] == "failed"


def test_nothing_answers_afterwards(figures):
    with delivered(figures, ANY) as delivery:
        scraped(delivery.address)
    with pytest.raises(OSError, match="refused"):
        scraped(delivery.address)


def test_a_port_that_is_taken_is_told(figures):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with (
            pytest.raises(UserError, match=rf"--metrics: 127.0.0.1:{port}: .*in use; give another"),
            delivered(figures, Endpoint("prometheus", "127.0.0.1", port)),
        ):
            pass
