"""A trial that a server's connection limit ends names the setting."""

import pytest

from dbdyno.conduct.listener import Listener
from dbdyno.conduct.refused_clients import with_setting
from dbdyno.conduct.run import conduct
from dbdyno.experiment.model import Experiment
from dbdyno.experiment.read import NamedExperiment
from dbdyno.results.facts import TrialFacts
from dbdyno.results.read import read_run
from helpers import need


@pytest.mark.parametrize("name", ["mariadb", "postgresql"])
def test_a_server_that_takes_too_few_connections_is_named_with_its_setting(tmp_path, name):
    need(name)
    keys = {"workload": "point-get", "rows": 100, "clients": 24, "seconds": 1, "warmup_seconds": 0, "ceiling": False}
    experiment = Experiment.model_validate(keys | {"system": f"{name}?max_connections=16", "host": False})
    end = conduct(NamedExperiment("refused", experiment), "a test", tmp_path, Listener())
    (trial,) = read_run(end.folder).trials
    assert trial.state == "failed" and "clients could not connect" in trial.reason
    assert trial.reason.endswith(" (max_connections=16): raise it, or run fewer clients")


def test_other_reasons_stay_as_they_are():
    facts = TrialFacts(servers=[{"name": "redis", "effective_settings": {"maxclients": "9"}}])
    assert with_setting("-ERR max number of clients reached", facts) == (
        "-ERR max number of clients reached (maxclients=9): raise it, or run fewer clients"
    )
    assert with_setting("it died", facts) == "it died"
    assert with_setting("Too many connections", TrialFacts()) == "Too many connections"
    assert with_setting(None, facts) is None
