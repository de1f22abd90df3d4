"""The actions that can take a server away are known to experiments and reports by the same names."""

from dbdyno.experiment.events import Event
from dbdyno.report.sections.events import OUTAGES as OF_REPORTS
from dbdyno.systems import SYSTEMS
from dbdyno.systems.actions import OUTAGES


def test_names_are_the_same_everywhere():
    assert set(OUTAGES) == set(OF_REPORTS)
    for system in SYSTEMS.values():
        for name in system.actions:
            assert Event(at=1, action=name).is_outage == (name in OUTAGES)
