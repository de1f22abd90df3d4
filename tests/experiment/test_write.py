"""An experiment that was written back is the same, without its passwords."""

import pytest

from dbdyno.experiment.read import read_experiment
from dbdyno.experiment.shipped_files import shipped_experiments
from dbdyno.experiment.write import to_toml

HARD = {
    "system": ["mysql://u:hidden@h/d?engine=InnoDB", "cache-aside(memcached?memory=9, mariadb)", "redis?save=60 1"],
    "cpus.client": [0],
    "memory_limit": "64M",
    "options.access": "sequential",
    "rows": 77,
}
OPEN = {"rate": [500, {"ramp": [10, 20.5], "seconds": 1}], "arrivals": "poisson", "seconds": 5, "events": []}
SHARES = {"rate": ["50%", "72.5%"], "pipeline": [1]}
PAIRED = {"precise": "0.5%", "clients": "1..8", "warmup": "auto", "repeat": 5, "events": []}
SEARCH = {"find_rate": "p99.9 < 1.5s", "pipeline": [1], "ceiling": False, "restart": None, "events": []}


@pytest.mark.parametrize("name", sorted(shipped_experiments()))
@pytest.mark.parametrize(
    "overrides",
    [{}, HARD, OPEN, SHARES, PAIRED, SEARCH],
    ids=["as shipped", "hard", "open", "shares", "paired", "search"],
)
def test_it_is_read_again_as_the_same(name, overrides, tmp_path):
    shipped = read_experiment(name).experiment
    if (shipped.groups or shipped.think_time) and overrides not in ({}, HARD):
        pytest.skip("its clients have their own numbers, rates or pauses")
    workloads = shipped.workload
    if not all("access" in workload.definition.options for workload in workloads):
        overrides = {key: value for key, value in overrides.items() if key != "options.access"}
    written = to_toml(read_experiment(name, overrides).experiment)
    assert "hidden" not in written
    file = tmp_path / "experiment.toml"
    file.write_text(written)
    assert to_toml(read_experiment(str(file)).experiment) == written
