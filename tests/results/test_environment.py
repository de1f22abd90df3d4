"""The types of `environment.json` have the keys that are written."""

from dbdyno.conduct.beginning import describe_conditions
from dbdyno.conduct.resumption import _MAY_DIFFER, _MUST_BE_SAME
from dbdyno.observe.gauges.measure import Effort, measure_host
from dbdyno.results.environment import Conditions, MeasuredHost, read_environment
from dbdyno.results.write import RunFolder

from .typed import differing_keys

QUICK = Effort(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, with_fio=False)


def test_a_measured_host_has_the_keys_of_its_type(tmp_path):
    of_the_command_alone = {"directory": "", "parallel_disk": None, "network": None}
    assert list(differing_keys(MeasuredHost, {**measure_host(tmp_path, QUICK), **of_the_command_alone})) == []


def test_a_described_host_has_the_keys_of_its_type():
    conditions = describe_conditions()
    assert list(differing_keys(Conditions, conditions)) == []
    assert _MUST_BE_SAME.keys() | _MAY_DIFFER.keys() <= conditions.keys()


def test_an_environment_that_is_written_is_read(tmp_path):
    assert read_environment(tmp_path) == {}
    folder = RunFolder.create(tmp_path, "x", 0.0)
    folder.write_environment({"host": "bench-1", "measured": None})
    assert read_environment(folder.path) == {"host": "bench-1", "measured": None}
