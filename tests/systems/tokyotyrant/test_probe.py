"""A ttserver shows its figures, and a lost one is reported."""

import pytest

from dbdyno.errors import RunFailed
from systems.load import rows_read


def test_its_figures_are_shown_until_it_is_gone(started, program):
    server = started(f"tokyotyrant?binary={program}")
    (probe,) = server.probes()
    probe.open()
    before = probe.counters()
    assert before["records"] == 0 and probe.waits() is None
    assert rows_read(server) > 0 and probe.counters()["gets_total"] > before["gets_total"]
    server.stop()
    with pytest.raises(RunFailed, match="tokyotyrant does not show its figures"):
        probe.counters()
    with pytest.raises(RunFailed, match=r"does not show its figures: .*refused"):
        probe.open()
    probe.close()
