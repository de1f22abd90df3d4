"""An address for metrics is read as people write it; a missing part is named."""

import sys

import pytest

from dbdyno.errors import UserError
from dbdyno.metrics.endpoint import Endpoint, delivered, parse_endpoint


@pytest.mark.parametrize(
    ("text", "endpoint"),
    [
        ("prometheus", Endpoint("prometheus", "127.0.0.1", 9464)),
        ("prometheus:9100", Endpoint("prometheus", "127.0.0.1", 9100)),
        ("prometheus:0.0.0.0:9100", Endpoint("prometheus", "0.0.0.0", 9100)),
        ("prometheus:[::1]:9100", Endpoint("prometheus", "::1", 9100)),
        ("otlp", Endpoint("otlp", url="http://localhost:4318/v1/metrics")),
        ("otlp:http://c.example:4318", Endpoint("otlp", url="http://c.example:4318/v1/metrics")),
        ("otlp:https://c.example/", Endpoint("otlp", url="https://c.example/v1/metrics")),
        ("otlp:https://c.example/otlp/v1/metrics", Endpoint("otlp", url="https://c.example/otlp/v1/metrics")),
    ],
)
def test_it_is_read(text, endpoint):
    assert parse_endpoint(text) == endpoint


@pytest.mark.parametrize(
    "text", ["", "statsd:1", "prometheus:x", "prometheus:70000", "otlp:4318", "otlp:ftp://x", "otlp:http://"]
)
def test_what_is_none_is_refused(text):
    with pytest.raises(UserError, match=r"^--metrics .*: give prometheus"):
        parse_endpoint(text)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c.example:4318/"),
        ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://c.example:4318/v1/metrics"),
    ],
)
def test_the_environment_says_where_a_collector_is(name, value, monkeypatch):
    monkeypatch.setenv(name, value)
    assert parse_endpoint("otlp").url == "http://c.example:4318/v1/metrics"


@pytest.mark.parametrize(("way", "library"), [("prometheus", "prometheus_client"), ("otlp", "opentelemetry")])
def test_a_library_that_is_not_installed_is_named(way, library, figures, monkeypatch):
    for name in [f"dbdyno.metrics.{way}", *(name for name in sys.modules if name.split(".")[0] == library)]:
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(UserError, match=rf"pip install 'dbdyno\[{way}\]'"), delivered(figures, parse_endpoint(way)):
        pass
