"""All gauges are asked, fio only where it is to be, and one that cannot be read spoils no other."""

import json

from dbdyno.observe.gauges import measure
from dbdyno.observe.gauges.measure import Effort, measure_host

QUICK = Effort(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, with_fio=False)


def test_every_gauge_is_in_it_as_json(tmp_path):
    measured = json.loads(json.dumps(measure_host(tmp_path, QUICK)))
    assert measured["not_measured"] == {}
    assert all(measured[name] for name in ("clock", "oversleep_us", "memory", "loopback_us", "disk", "processor"))


def test_every_gauge_has_what_went_on_meanwhile(tmp_path):
    measured = measure_host(tmp_path, QUICK)
    trips = [trip for trip in measured["loopback_us"].values() if trip]
    gauges = [measured[name] for name in ("clock", "oversleep_us", "memory", "processor")]
    for gauge in (*gauges, *trips, measured["disk"]["read_us"], measured["disk"]["flush_us"]):
        assert gauge["slot_s"] > 0 and any(gauge["slots"])


def test_what_cannot_be_measured_is_said(tmp_path):
    measured = measure_host(tmp_path / "nowhere", QUICK)
    assert measured["disk"] is None and "nowhere" in measured["not_measured"]["disk"]
    assert measured["memory"]["best_bytes_per_s"] > 0


def test_fio_is_asked_only_where_it_may(tmp_path, monkeypatch):
    monkeypatch.setattr(measure.fio, "is_installed", lambda: True)
    monkeypatch.setattr(measure.fio, "measure_by_fio", lambda directory, seconds: {"by": "fio"})
    assert measure_host(tmp_path, Effort(0, 0, 0, 0, 0, 0, with_fio=True))["disk"] == {"by": "fio"}
    assert measure_host(tmp_path, QUICK)["disk"]["by"] == "dbdyno"
