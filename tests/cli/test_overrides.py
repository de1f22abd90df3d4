"""Options become keys of the experiment file."""

import pytest

from dbdyno.cli.overrides import overrides_of, parse_counts, parse_rates, parse_set, parse_warmup
from dbdyno.errors import UserError
from dbdyno.experiment.read import read_experiment

NOTHING = {
    "system": (),
    "clients": None,
    "rate": None,
    "find_rate": None,
    "pipeline": None,
    "seconds": None,
    "warmup": None,
    "repeat": None,
    "precise": None,
    "until_flat": None,
    "scale": None,
    "rows": None,
    "seed": None,
    "confirm_limit": False,
    "keep": False,
    "no_observe": False,
    "profile": None,
    "set": (),
}


def test_what_is_not_given_overrides_nothing():
    assert overrides_of(NOTHING) == {}


def test_what_is_given_does():
    given = {"system": ("redis", "lmdb"), "clients": "1,8", "warmup": "0", "rows": 5, "keep": True, "set": ("seed=7",)}
    assert overrides_of(NOTHING | given) == {
        "system": ["redis", "lmdb"],
        "clients": [1, 8],
        "warmup_seconds": 0,
        "rows": 5,
        "keep": True,
        "seed": 7,
    }


def test_observing_can_be_left_out():
    assert overrides_of(NOTHING | {"no_observe": True}) == {"observe": False}


def test_rows_beside_a_scale_leave_it_the_other_sizes():
    overrides = overrides_of(NOTHING | {"scale": "full", "rows": 5})
    experiment = read_experiment("flushing", overrides).experiment
    assert (experiment.rows, experiment.seconds) == (5, 3600)


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("cpus.client=[0, 1]", ("cpus.client", [0, 1])),
        ("memory_limit=512M", ("memory_limit", "512M")),
        ('if_missing="skip"', ("if_missing", "skip")),
        ("options.access=sequential", ("options.access", "sequential")),
        ("keep=true", ("keep", True)),
        ("question=a=b", ("question", "a=b")),
    ],
)
def test_a_value_is_toml_or_the_text_itself(text, pair):
    assert parse_set(text) == pair


def test_what_is_neither_is_refused():
    with pytest.raises(UserError, match="KEY=VALUE"):
        parse_set("seed")
    with pytest.raises(UserError, match="--clients 1,8,64"):
        parse_counts("clients", "1;8")
    with pytest.raises(UserError, match="--rate fast: give transactions per second"):
        parse_rates("fast")


@pytest.mark.parametrize("value", ["[" * 5000, "9" * 5000, "{a" + ".a" * 3000 + " = 1}"], ids=lambda value: value[:5])
def test_a_value_that_no_reader_follows_is_refused(value):
    with pytest.raises(UserError, match="--set rows: "):
        parse_set(f"rows={value}")


def test_rates_limits_and_pipelines():
    assert overrides_of(NOTHING | {"rate": "1000,2500.5", "pipeline": "1,16"}) == {
        "rate": [1000, 2500.5],
        "pipeline": [1, 16],
    }
    assert overrides_of(NOTHING | {"rate": "50%, 90%"}) == {"rate": ["50%", "90%"]}
    assert overrides_of(NOTHING | {"find_rate": "p99 < 10ms"}) == {"find_rate": "p99 < 10ms"}
    assert overrides_of(NOTHING | {"clients": "1..64", "precise": "1%"}) == {"clients": "1..64", "precise": "1%"}
    with pytest.raises(UserError, match="give one of them"):
        overrides_of(NOTHING | {"rate": "5", "find_rate": "p99 < 10ms"})


def test_a_warm_up_is_seconds_or_found_by_itself():
    assert (parse_warmup("5"), parse_warmup("auto")) == ({"warmup_seconds": 5}, {"warmup": "auto"})
    for text in ("-1", "soon", "1.5", "9" * 5000):
        with pytest.raises(UserError, match="whole seconds, or auto"):
            parse_warmup(text)
