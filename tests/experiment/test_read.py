"""An error of an experiment names the file, the key, the value and what would be accepted."""

import re

import pytest

from dbdyno.errors import UserError
from dbdyno.experiment.bounds import brief
from dbdyno.experiment.read import find_experiment, override, read_experiment
from dbdyno.experiment.scale import SCALES
from dbdyno.experiment.shipped_files import shipped_experiments

GOOD = """
workload = "game"
system = ["sqlite"]
scale = "small"
rows = {small = 10, medium = 100}
clients = [1, 2]
seconds = 1
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(GOOD)
    return path


@pytest.mark.parametrize("name", sorted(shipped_experiments()))
def test_every_shipped_experiment_is_read_by_its_name_at_every_scale(name):
    sizes = [read_experiment(name, {"scale": scale}) for scale in SCALES]
    assert {named.name for named in sizes} == {name}
    assert all(named.experiment.question and named.experiment.look_for for named in sizes)
    small, medium, full = ((named.experiment.rows, named.experiment.seconds) for named in sizes)
    assert small[0] < medium[0] < full[0] and small[1] <= medium[1] <= full[1]


def test_full_is_what_was_published():
    full = {
        name: read_experiment(name, {"scale": "full"}).experiment
        for name in ("point-get", "game", "db-stress", "flushing", "trx-lifecycle", "tpcc")
    }
    most = {name: (min(experiment.clients), max(experiment.clients)) for name, experiment in full.items()}
    assert (most["point-get"], most["game"], most["db-stress"]) == ((1, 160), (1, 128), (1, 1024))
    assert most["trx-lifecycle"] == (1, 256)
    assert (full["db-stress"].rows, full["db-stress"].seconds) == (1_000_000, 3500)
    assert (full["flushing"].rows, full["flushing"].seconds) == (200, 3600)
    pools = [spec.settings.get("innodb_buffer_pool_size") for spec in full["flushing"].system]
    assert pools[:6] == ["100%", "80%", "60%", "50%", "40%", "30%"]


def test_seconds_of_the_command_line_hold_at_every_scale():
    given = read_experiment("flushing", {"scale": "full", "seconds": 5, "warmup_seconds": 1}).experiment
    assert (given.rows, given.seconds, given.warmup_seconds) == (200, 5, 1)
    assert read_experiment("flushing", {"rows": 3}).experiment.seconds < 60


def test_a_file_goes_by_its_name(file):
    assert read_experiment(str(file)).name == "mine"


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        ({"clinets": [1]}, "there is no key 'clinets'; did you mean 'clients'? The keys are question"),
        ({"cpus.clint": [1]}, "there is no key 'cpus.clint'; did you mean 'client'?"),
        ({"seconds": "ten"}, "seconds = 'ten': should be a valid integer"),
        ({"if_missing": "ignore"}, "if_missing = 'ignore': should be 'error' or 'skip'"),
        ({"workload": "gaem"}, "workload: there is no workload 'gaem'; did you mean 'game'?"),
        ({"scale": "huge"}, "scale = 'huge': rows has only small, medium"),
        (
            {"rows": 5, "scale": "small"},
            "--scale small has no effect: other options replace all that it gives by scale",
        ),
        ({"rate": [-1]}, "rate: -1/s: a rate is above 0 transactions per second"),
        ({"find_rate": "p99"}, "find_rate: 'p99' is not a limit"),
        ({"find_rate": f"p99 < {'9' * 400}s"}, "is not a limit"),
        ({"system": "mysql://u:hidden/x@h:p/d"}, "system: 'mysql://u:***@h:p/d' is not a URL"),
        ({"repeat": 10**9}, "repeat = 1000000000: should be less than or equal to 1000"),
        ({"seconds": 10**20 - 1}, "seconds = 99999999999999999999: should be less than or equal to 604800"),
        ({"pipeline": [10**9]}, "pipeline: 1000000000 requests at once: at most 1,000"),
        ({"clients": [10**9]}, "clients: 1000000000 clients: at most 1,000,000"),
        ({"clients": "1..99999999999999999"}, "clients: 99999999999999999 clients: at most 1,000,000"),
        ({"rows": 1 << 20_000}, "rows = a number of thousands of digits: should be"),
        ({"memory_limit": "9999999T"}, "memory_limit: 9999999T: at most 1,024T"),
        ({"question": ["x" * 10**6]}, "xxx…: should be a valid string"),
        ({"workload": "x" * 10**6}, "there is no workload 'xxx"),
        ({"system": {"system": "mariadb", "label": 5}}, "system: label = 5: give text in one line"),
        ({"system": {"system": "mariadb", "label": "a\nb"}}, r"system: label = 'a\nb': give text in one line"),
        ({"system": {"system": "redis", "settings": {"save": "1\nuser x"}}}, r"save = '1\nuser x': a setting has no"),
        ({"system": {"system": "lmdb", "settings": {"a": "9" * 5000}}}, "99…: a setting has at most 4,096 characters"),
        ({"a" + ".a" * 3000: 1}, "tables nest at most 32 deep"),
    ],
    ids=lambda value: brief(value)[:30],
)
def test_an_error_says_where_what_and_what_else(file, overrides, said):
    with pytest.raises(UserError) as caught:
        read_experiment(str(file), overrides)
    message = str(caught.value)
    # That a scale has no rows is for no one key of them.
    everywhere = f"{file}: " if "scale" in overrides else "on the command line: "
    assert message.startswith("--set a.a" if "a.a" in next(iter(overrides)) else everywhere)
    assert len(message) < 1000
    assert said in message
    assert "hidden" not in message and "\n" not in message


def test_a_shipped_experiment_is_called_by_its_name_and_a_file_by_its_path(file):
    with pytest.raises(UserError, match=r"^point-get: the workload 'point-get' has no option 'foo'"):
        read_experiment("point-get", {"options.foo": 1})
    file.write_text(GOOD.replace("seconds = 1", "seconds = 0"))
    with pytest.raises(UserError, match=f"^{re.escape(str(file))}: seconds = 0"):
        read_experiment(str(file), {"rows": 5})


def test_a_missing_key_is_named(file):
    file.write_text(GOOD.replace("seconds = 1", ""))
    with pytest.raises(UserError, match="the key 'seconds' is missing"):
        read_experiment(str(file))


def test_toml_that_is_none_is_said_with_its_place(file):
    file.write_text("workload = game")
    with pytest.raises(UserError, match=r"no valid TOML.*line 1"):
        read_experiment(str(file))


def test_a_file_without_end_is_no_experiment(file):
    with file.open("wb") as large:
        large.truncate(1 << 40)
    with pytest.raises(UserError, match="more than 1,048,576 bytes"):
        read_experiment(str(file))


def test_more_trials_than_anybody_waits_for_are_refused_before_they_are_made(file):
    with pytest.raises(UserError, match="these are 100,000 trials; a run has at most 10,000"):
        read_experiment(str(file), {"clients": list(range(1, 101)), "repeat": 1000})
    settings = {f"a{number}": list(range(100)) for number in range(10)}
    with pytest.raises(UserError, match="100,000,000,000,000,000,000 combinations"):
        read_experiment(str(file), {"system": {"system": "mariadb", "settings": settings}})
    with pytest.raises(UserError, match="combinations; at most 1,000"):
        read_experiment(str(file), {f"options.o{number}": list(range(100)) for number in range(10)})


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000])
def test_what_can_be_no_path_is_neither_a_file_nor_an_experiment(name):
    with pytest.raises(UserError, match="neither a file nor a shipped experiment"):
        find_experiment(name)


def test_a_name_that_is_nothing_is_refused_with_one_that_is_close():
    with pytest.raises(UserError, match=r"did you mean 'game'\? `dbdyno list` names them all\."):
        find_experiment("gaem")


def test_overrides_take_the_place_of_what_was_there():
    document = {"clients": [1], "cpus": {"client": [0]}, "scale": "small"}
    assert override(document, {"clients": [8]})["clients"] == [8]
    assert override(document, {"cpus.server": [1]})["cpus"] == {"client": [0], "server": [1]}
    assert "scale" not in override(document, {"rows": 5})
    assert document == {"clients": [1], "cpus": {"client": [0]}, "scale": "small"}
    assert override({"rate": 5}, {"find_rate": "p99 < 1ms"}) == {"find_rate": "p99 < 1ms"}
    assert override({"find_rate": "p99 < 1ms"}, {"rate": [5]}) == {"rate": [5]}
    assert override({"warmup": "auto"}, {"warmup_seconds": 5}) == {"warmup_seconds": 5}
    assert override({"warmup_seconds": 5}, {"warmup": "auto"}) == {"warmup_seconds": 5, "warmup": "auto"}
    with pytest.raises(UserError, match="'clients' is not a table"):
        override(document, {"clients.first": 1})
