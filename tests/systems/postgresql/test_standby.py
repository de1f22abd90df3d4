"""A standby against its primary: a real pair."""

import pytest

from dbdyno.errors import RunFailed
from dbdyno.systems.postgresql import standby
from dbdyno.systems.postgresql.probe import connect
from dbdyno.systems.postgresql.standby import promise_of
from helpers import need, system, wait_until


def test_a_standby_that_does_not_replay_is_reported_and_shown_by_the_figures_of_both(launch, monkeypatch):
    need("postgresql")
    pair = system("replicated(postgresql*2)")
    try:
        pair.start(launch)
        with connect(pair.primary.endpoint) as connection:
            connection.execute("CREATE TABLE dbdyno_t (id int PRIMARY KEY, version bigint)")
        (replica,) = pair.witnesses()
        assert replica.versions({"dbdyno_t": 1})[0]["dbdyno_t"].tolist() == [-1, -1]
        of_primary, of_standby = pair.probes()
        for probe in (of_primary, of_standby):
            probe.open()
        assert of_primary.counters()["standbys"] == 1 and of_primary.counters()["synchronous_standbys"] == 0
        assert wait_until(lambda: of_standby.counters()["wal_receivers_streaming"] == 1)
        with connect(pair.replicas[0].endpoint) as connection:
            connection.execute("SELECT pg_wal_replay_pause()")
        with connect(pair.primary.endpoint) as connection:
            connection.execute("INSERT INTO dbdyno_t VALUES (1, 5)")
        assert wait_until(lambda: of_primary.counters()["standby_unreplayed_bytes"] > 0)
        counters = of_standby.counters
        assert wait_until(lambda: counters()["wal_received_bytes_total"] > counters()["wal_replayed_bytes_total"])
        monkeypatch.setattr(standby, "CATCH_UP_S", 0.3)
        with pytest.raises(RunFailed, match=r"replica replicated-2 did not catch up within 0 s"):
            replica.versions({"dbdyno_t": 1})
        # What it received and does not replay is given up, too.
        monkeypatch.setattr(standby, "_STILL_S", 0.2)
        assert replica.alone({"dbdyno_t": 1})["dbdyno_t"].tolist() == [-1, -1]
        with connect(pair.replicas[0].endpoint) as connection:
            connection.execute("SELECT pg_wal_replay_resume()")
        assert replica.alone({"dbdyno_t": 1})["dbdyno_t"].tolist() == [-1, 5]
    finally:
        pair.stop()
    with pytest.raises(RunFailed, match="replica replicated-2 does not answer: "):
        replica.alone({"dbdyno_t": 1})


def test_a_primary_that_does_not_flush_promises_nothing():
    assert promise_of({"fsync": "on"}) == (True, "fsync=on")
    assert promise_of({"fsync": "off"}) == (False, "fsync=off")
