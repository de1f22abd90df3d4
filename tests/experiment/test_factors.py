"""A list for a key makes a variant of each system for each value; several lists are crossed or zipped."""

import pytest
from pydantic import ValidationError

from dbdyno.errors import UserError
from dbdyno.experiment.factors import expand_factors
from dbdyno.experiment.model import Experiment
from dbdyno.experiment.read import read_experiment
from dbdyno.experiment.trials import cell_of, expand
from dbdyno.experiment.variant import Cpus
from dbdyno.experiment.write import to_toml

LEAST = {"workload": "point-get", "system": "sqlite", "rows": 10, "clients": 1, "seconds": 1}


def read(**keys):
    return Experiment.model_validate(LEAST | keys)


def labels(**keys):
    return [spec.label for spec in read(**keys).system]


def test_without_a_list_nothing_is_changed():
    assert expand_factors(LEAST) == LEAST
    assert read().system[0].variant.given == {} and read().variants == [read()]


def test_a_list_of_rows_makes_variants_of_every_system():
    experiment = read(rows=[1000, 1_000_000], system=["sqlite", "redis?save="])
    assert [spec.label for spec in experiment.system] == [
        "sqlite, rows 1k",
        "sqlite, rows 1M",
        "redis, rows 1k",
        "redis, rows 1M",
    ]
    assert [experiment.of(spec).rows for spec in experiment.system] == [1000, 1_000_000] * 2
    assert experiment.rows == 1000


def test_lists_are_crossed():
    experiment = read(rows=[1, 2], cpus={"client": [3], "server": [[0], [0, 1]]}, memory_limit="1G")
    assert [spec.label for spec in experiment.system] == [
        "sqlite, rows 1, server CPUs 0",
        "sqlite, rows 1, server CPUs 0-1",
        "sqlite, rows 2, server CPUs 0",
        "sqlite, rows 2, server CPUs 0-1",
    ]
    last = experiment.of(experiment.system[-1])
    assert (last.rows, last.cpus.client, last.cpus.server) == (2, [3], [0, 1])
    assert last.memory_limit_bytes == 1 << 30


def test_a_list_of_processors_is_one_choice():
    assert read(cpus={"server": [0, 1]}).cpus.server == [0, 1] and labels(cpus={"server": [0, 1]}) == ["sqlite"]


@pytest.mark.parametrize(
    ("key", "values", "attribute"),
    [
        ("seconds", [1, 2], "seconds"),
        ("warmup_seconds", [0, 5], "warmup_seconds"),
        ("operation_timeout_seconds", [1, 9], "operation_timeout_seconds"),
        ("memory_limit", ["64M", "1G"], "memory_limit"),
        ("data_dir", ["/mnt/a", "/mnt/b"], "data_dir"),
        ("load_threads", [1, 4], "load_threads"),
        ("transactions_per_connection", [0, 10], "transactions_per_connection"),
        ("observe", [True, False], "observe"),
        ("restart", ["lukewarm", "cold"], "restart"),
    ],
)
def test_every_such_key_is_a_factor(key, values, attribute):
    experiment = read(**{key: values})
    assert [getattr(experiment.of(spec), attribute) for spec in experiment.system] == values
    assert len(set(labels(**{key: values}))) == 2


def test_no_restart_may_be_one_of_several():
    experiment = read(restart=["none", "cold"])
    assert [experiment.of(spec).restart for spec in experiment.system] == [None, "cold"]
    assert experiment.prepared_alone and read(restart="none").restart is None


def test_arrivals_are_a_factor_of_an_open_loop():
    assert labels(arrivals=["constant", "poisson"], rate=10) == [
        "sqlite, arrivals constant",
        "sqlite, arrivals poisson",
    ]
    with pytest.raises(ValidationError, match="a closed loop has none"):
        read(arrivals=["constant", "poisson"])


def test_a_zip_takes_the_first_of_each_then_the_second():
    pool = {"system": "mariadb", "settings": {"innodb_buffer_pool_size": ["8M", "16M"]}}
    experiment = read(combine="zip", rows=[10, 20], options={"access": ["uniform", "zipfian"]}, system=[pool, "sqlite"])
    assert [spec.label for spec in experiment.system] == [
        "mariadb innodb_buffer_pool_size=8M, rows 10, access uniform",
        "mariadb innodb_buffer_pool_size=16M, rows 20, access zipfian",
        "sqlite, rows 10, access uniform",
        "sqlite, rows 20, access zipfian",
    ]
    own = experiment.of(experiment.system[1])
    assert own.options == {"access": "zipfian"} and own.workload[0].option("access") == "zipfian"
    assert [*map(str, experiment.workload)] == ["point-get"]
    trials = [trial for preparation in expand(experiment, experiment.system) for trial in preparation.trials]
    assert [trial.workload.options["access"] for trial in trials] == ["uniform", "zipfian"] * 2
    assert len({cell_of(trial) for trial in trials}) == 1


def test_a_zip_of_unequal_lists_is_refused_with_its_line(tmp_path):
    file = tmp_path / "mine.toml"
    lines = ['workload = "point-get"', 'system = "sqlite"', "rows = [1, 2, 3]", "load_threads = [1, 2]"]
    file.write_text("\n".join([*lines, 'combine = "zip"', "clients = 1", "seconds = 1"]))
    with pytest.raises(
        UserError, match=r'mine\.toml: line 5: combine = "zip": rows has 3 values and load_threads has 2'
    ):
        read_experiment(str(file))


def test_a_system_may_have_its_own():
    system = [{"system": "sqlite", "with": {"rows": 5}}, {"system": "redis", "with": {"rows": [6, 7]}}, "lmdb"]
    experiment = read(rows=[1, 2], system=system)
    assert [(spec.label, experiment.of(spec).rows) for spec in experiment.system] == [
        ("sqlite", 5),
        ("redis, rows 6", 6),
        ("redis, rows 7", 7),
        ("lmdb, rows 1", 1),
        ("lmdb, rows 2", 2),
    ]


def test_sizes_may_hold_lists():
    rows = {"small": [1, 2], "full": [3, 4, 5]}
    cpus = {"server": {"small": [[0], [1]], "full": [0]}}
    assert len(read(rows=rows, cpus=cpus).system) == 4
    assert [spec.variant.rows for spec in read(rows=rows, cpus=cpus, scale="full").system] == [3, 4, 5]


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ({"rows": []}, "rows: give at least one value, and each once"),
        ({"rows": [1, 1]}, "each once"),
        ({"rows": [1, "2"]}, "rows = '2': Input should be a valid integer"),
        ({"rows": [1, 0]}, "greater than or equal to 1"),
        ({"combine": "product", "rows": [1, 2]}, "'matrix' or 'zip'"),
        ({"system": {"system": "sqlite", "with": {"clients": 3}}}, "clients = 3: Extra"),
        ({"system": {"system": "sqlite", "with": 3}}, "with = 3: Input should be"),
        ({"rows": list(range(1, 1002))}, "make 1,001 combinations"),
        ({"rows": list(range(1, 900)), "clients": list(range(1, 30))}, "26,071 trials; a run has at most 10,000"),
        ({"combine": "zip", "options": {"access": ["uniform", "odd"]}, "rows": [1, 2]}, "option access = 'odd'"),
    ],
    ids=str,
)
def test_what_cannot_be_meant_is_refused(keys, why):
    with pytest.raises(ValidationError, match=why):
        read(**keys)


def test_written_back_it_has_the_same_variants(tmp_path):
    settings = {"innodb_buffer_pool_size": ["8M", "16M"]}
    experiment = read(
        combine="zip",
        rows=[10, 20],
        cpus={"server": [[0], [0, 1]]},
        options={"access": ["uniform", "zipfian"]},
        system={"system": "mariadb", "settings": settings},
    )
    (tmp_path / "again.toml").write_text(to_toml(experiment))
    again = read_experiment(str(tmp_path / "again.toml")).experiment
    assert again.system == experiment.system
    kept = [[(own.rows, own.cpus, own.options) for own in each.variants] for each in (again, experiment)]
    assert kept[0] == kept[1] and kept[0][1] == (20, Cpus(server=[0, 1]), {"access": "zipfian"})
    assert to_toml(again) == to_toml(experiment)


def test_repeated_variants_are_interleaved():
    experiment = read(rows=[1, 2], repeat=2)
    trials = [trial for preparation in expand(experiment, experiment.system) for trial in preparation.trials]
    first, second = ([trial.system.label for trial in trials if trial.repeat == repeat] for repeat in (1, 2))
    assert sorted(first) == ["sqlite, rows 1", "sqlite, rows 2"] and second == first[::-1]
