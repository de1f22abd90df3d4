"""`[limits]` is read as people write it, and what is none is refused with what is accepted."""

import pytest

from dbdyno.errors import UserError
from dbdyno.experiment.limit import Limit
from dbdyno.experiment.limits import LeastThroughput, MostErrors, read_limits, write_limits
from dbdyno.experiment.read import read_experiment
from dbdyno.experiment.write import to_toml


@pytest.mark.parametrize(
    ("key", "value", "bound"),
    [
        ("p99", "< 10ms", Limit("p99", 10_000, 99)),
        ("p99.9", "<1s", Limit("p99.9", 1_000_000, 99.9)),
        ("mean", "< 500us", Limit("mean", 500)),
        ("max", "< 2s", Limit("max", 2_000_000)),
        ("throughput", "> 1000/s", LeastThroughput(1000)),
        ("throughput", ">0.5 / s", LeastThroughput(0.5)),
        ("errors", 0, MostErrors(below=1)),
        ("errors", "< 10", MostErrors(below=10)),
        ("errors", "< 0.5%", MostErrors(below_share=0.005)),
    ],
)
def test_a_limit_is_read_and_written(key, value, bound):
    assert read_limits({key: value}) == (bound,)
    assert read_limits(write_limits((bound,))) == (bound,)


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        ("p99 < 10ms", "give a table"),
        ({"p99": "> 10ms"}, "is not a limit; write"),
        ({"p99": 10}, 'write e.g. p99 = "< 10ms"'),
        ({"trhoughput": "> 1/s"}, "did you mean 'throughput'"),
        ({"throughput": "< 1000/s"}, 'write e.g. throughput = "> 1000/s"'),
        ({"throughput": 1000}, 'write e.g. throughput = "> 1000/s"'),
        ({"errors": 5}, "write errors = 0"),
        ({"errors": False}, "write errors = 0"),
        ({"errors": "< 0"}, "write errors = 0"),
        ({"errors": "< 0%"}, "write errors = 0"),
        ({"errors": "< 1.2.3%"}, "is not a percentage"),
    ],
)
def test_what_is_none_is_refused(limits, says):
    with pytest.raises(UserError) as refused:
        read_experiment("game", {"limits": limits})
    assert str(refused.value).startswith("on the command line: limits: ") and says in str(refused.value)


@pytest.mark.parametrize(
    ("name", "overrides"), [("durability", {}), ("air-traffic", {}), ("game", {"find_rate": "p99 < 10ms"})]
)
def test_limits_on_what_has_no_such_figures_are_refused(name, overrides):
    with pytest.raises(UserError, match=r"limits: .* leave"):
        read_experiment(name, {"limits": {"p99": "< 1ms"}, **overrides})


def test_they_are_kept_in_the_file_of_the_run(tmp_path):
    file = tmp_path / "again.toml"
    file.write_text(to_toml(read_experiment("game", {"limits.p99": "< 10ms", "limits.errors": 0}).experiment))
    assert '[limits]\np99 = "< 10ms"\nerrors = 0\n' in file.read_text()
    assert list(map(str, read_experiment(str(file)).experiment.limits)) == ["p99 < 10ms", "errors = 0"]
