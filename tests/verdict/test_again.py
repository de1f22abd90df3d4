"""The command that repeats a trial's load can be pasted: it names the system, not its label."""

import json
import shlex
from dataclasses import replace

import pytest

from dbdyno.experiment.clients import NATIVE
from dbdyno.experiment.system_spec import bare_name, parse_system, read_systems
from dbdyno.verdict.again import repeating, system_of, with_settings

from .made import trial


def placed(tmp_path, command, **about):
    (tmp_path / "run.json").write_text(json.dumps({"command": command}))
    return replace(trial(**about), folder=tmp_path / "trials" / "001")


def facts_of(spec):
    """Return the facts of a system in `trial.json`."""
    parts = {f"{part.name}.{key}": value for part in spec.parts for key, value in part.settings.items()}
    return {"system": bare_name(spec), "label": spec.label, "settings": {**spec.settings, **parts}}


@pytest.mark.parametrize(
    "text",
    [
        "mariadb",
        "mariadb?innodb_buffer_pool_size=64M&skip-log-bin",
        "mysql@5.6?sql_mode=",
        "result-cache(memcached*3?memory=64, mariadb)?expire_s=2",
        "cache-aside(memcached?memory=64, replicated(mariadb*2))",
        "cache-aside(memcached, mysql@5.6?flush=a%26b%3Dc%28%29)",
        "redis?save=900 1 300 10",
    ],
)
def test_the_system_is_the_one_that_the_experiment_names(text):
    spec = parse_system(text)
    assert parse_system(system_of(trial(**facts_of(spec)))) == spec


def test_systems_that_only_settings_or_labels_tell_apart(tmp_path):
    read = read_systems(["mariadb?a=1", "mariadb?a=2", {"system": "mariadb?a=3", "label": "mariadb, reloaded"}])
    assert [spec.label for spec in read] == ["mariadb a=1", "mariadb a=2", "mariadb, reloaded"]
    for value, spec in zip("123", read, strict=True):
        words = repeating(placed(tmp_path, "dbdyno run point-get", **facts_of(spec)))
        assert words == ["dbdyno", "run", "point-get", "--system", f"mariadb?a={value}"]


def test_the_client_library_is_named_apart_from_its_system(tmp_path):
    driven = {"system": "redis", "label": "redis via redis-py", "client": "redis-py"}
    words = repeating(placed(tmp_path, "dbdyno run point-get", **driven))
    assert words == ["dbdyno", "run", "point-get", "--system", "redis", "--set", "client=redis-py"]
    several = 'dbdyno run point-get --set \'client=["native", "redis-py"]\''
    assert repeating(placed(tmp_path, several, **driven)) == words
    native = driven | {"label": "redis", "client": NATIVE}
    assert repeating(placed(tmp_path, several, **native)) == words[:-2]
    own = {"system": "redis", "label": "redis via mine", "client": "./mine"}
    assert repeating(placed(tmp_path, several, **own))[-2:] == ["--set", "client=./mine"]
    program = {"system": "mariadb", "label": "mariadb", "client": "sysbench"}
    assert "--set" not in repeating(placed(tmp_path, "dbdyno run sysbench", **program))
    assert "--set" not in repeating(placed(tmp_path, "dbdyno run point-get", **driven | {"client": NATIVE}))


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("mysql://ben:***@db:3306/bench?engine=MyISAM", "mysql://db:3306/bench"),
        ("postgresql://ben@db/bench", "postgresql://db/bench"),
    ],
)
def test_a_url_has_the_user_that_the_command_gave_it(tmp_path, given, name):
    settings = {"engine": "MyISAM"} if "?" in given else {}
    attached = {"system": name, "label": name, "attached": True, "settings": settings}
    command = shlex.join(["dbdyno", "run", "game", "--system", "redis", "--system", given])
    assert repeating(placed(tmp_path, command, **attached)) == ["dbdyno", "run", "game", "--system", given]


def test_a_url_that_only_the_file_names_is_left_to_the_file(tmp_path):
    attached = {"system": "redis:///run/redis.sock", "label": "redis:///run/redis.sock", "attached": True}
    assert repeating(placed(tmp_path, "dbdyno run mine.toml", **attached)) == ["dbdyno", "run", "mine.toml"]
    given = ["--system", "unix://:***@/run/redis.sock?db=0"]
    words = repeating(placed(tmp_path, shlex.join(["dbdyno", "run", "game", *given]), **attached))
    assert words == ["dbdyno", "run", "game", *given]


def test_the_options_that_the_load_depends_on_are_repeated(tmp_path):
    load = "--rows 100 --seconds=5 --warmup auto --scale small --seed 7 --set cpus.client=[0]"
    other = "--clients 1,8 --repeat 5 --out elsewhere --quiet --profile --keep --confirm-limit"
    words = repeating(placed(tmp_path, f"dbdyno run point-get {other} --system mariadb {load}", system="mariadb"))
    assert words == ["dbdyno", "run", "point-get", "--system", "mariadb", *load.replace("=5", " 5").split()]


def test_a_key_that_an_option_gives_too_is_set_once(tmp_path):
    run = placed(tmp_path, "dbdyno run point-get --seconds 1 --set seconds=2 --set host=false")
    assert repeating(run)[-4:] == ["--seconds", "1", "--set", "host=false"]


def test_options_that_will_be_added_replace_those_of_the_run(tmp_path):
    command = "dbdyno run point-get --set rate=1000 --set memory_limit=64M --set observe=false"
    run = placed(tmp_path, command, system="redis")
    again = ["dbdyno", "run", "point-get", "--system", "redis"]
    assert repeating(run, ("--rate", "2000")) == [*again, "--set", "memory_limit=64M", "--set", "observe=false"]
    changed = ("--set", "memory_limit=128M")
    assert repeating(run, changed) == [*again, "--set", "rate=1000", "--set", "observe=false"]


@pytest.mark.parametrize("option", ["--rate 50%,90%", "--find-rate 'p99 < 5ms'"])
def test_a_trial_of_several_rates_and_pipelines_repeats_its_own(tmp_path, option):
    again = ["dbdyno", "run", "point-get", "--system", "redis"]
    command = f"dbdyno run point-get {option}"
    closed = placed(tmp_path, command, system="redis")
    assert repeating(closed) == again
    open_loop = placed(tmp_path, command, system="redis", rate={"per_s": 1_250_000.0})
    assert repeating(open_loop) == [*again, "--rate", "1250000"]
    pipelined = placed(tmp_path, "dbdyno run point-get --pipeline 1,8", system="redis", pipeline=8)
    assert repeating(pipelined) == [*again, "--pipeline", "8"]


@pytest.mark.parametrize("command", ["dbdyno compare a b", "dbdyno run --resume last", "other run x", "dbdyno run"])
def test_another_command_repeats_nothing(tmp_path, command):
    assert repeating(placed(tmp_path, command)) is None


def test_a_setting_is_added_to_those_of_the_whole_system():
    assert with_settings("a(b?c=1)", {"d": "2"}) == "a(b?c=1)?d=2"
    assert with_settings("a?b=1", {"c": ""}) == "a?b=1&c"
    assert with_settings("a", {}) == "a"
