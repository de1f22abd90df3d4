"""Groups of clients are read, checked with the line of every error, and written back as the same."""

from pathlib import Path

import pytest

from dbdyno.conduct.plan import make_trial_plan
from dbdyno.errors import UserError
from dbdyno.experiment.groups import numbers_of
from dbdyno.experiment.read import read_experiment
from dbdyno.experiment.trials import expand
from dbdyno.experiment.write import to_toml

WORKLOAD = (Path(__file__).parents[2] / "examples" / "event-log.toml").read_text().partition("[workloads")
GROUPS = """\
workload = "event-log"
system = ["sqlite"]
rows = 100
seconds = 5
think_time = "2ms"

[[clients]]
name = "writer"
number = 2
transactions = ["append"]
rate = [100, 500]
arrivals = "poisson"
start_seconds = 1

[[clients]]
name = "readers"
number = [1, 4]
transactions = { chart = 3, dashboard = 1 }
access = "latest"
transactions_per_connection = 10

"""


def written(tmp_path, groups=GROUPS):
    file = tmp_path / "mine.toml"
    file.write_text(groups + "".join(WORKLOAD[1:]))
    return str(file)


def plans(experiment):
    """Return the groups of each trial's plan, by its workload and its clients."""
    trials = [trial for prepared in expand(experiment, experiment.system) for trial in prepared.trials]
    return {
        (str(trial.workload), trial.clients): make_trial_plan(experiment, "id", {}, trial).document()
        for trial in trials
    }


def test_a_list_of_numbers_is_a_sweep_and_a_list_of_rates_makes_variants(tmp_path):
    experiment = read_experiment(written(tmp_path)).experiment
    assert experiment.clients == [3, 6]
    assert [numbers_of(experiment.groups, clients) for clients in experiment.clients] == [[2, 1], [2, 4]]
    assert list(map(str, experiment.workload)) == ["event-log?writer_rate=100", "event-log?writer_rate=500"]


def test_a_plan_has_each_group_with_its_own_mix_rate_and_pause(tmp_path):
    experiment = read_experiment(written(tmp_path)).experiment
    document = plans(experiment)["event-log?writer_rate=500", 6]
    assert document["clients"] == {"first": 0, "count": 6, "of": 6}
    assert (document["arrivals"], document.get("think_time")) == (None, None)
    assert "writer_rate" not in document["workload"]["options"]
    writer, readers = document["groups"]
    weight = next(of.weight for of in experiment.workloads["event-log"].transactions if of.name == "append")
    assert writer == {
        "name": "writer",
        "count": 2,
        "options": {"transactions": {"append": weight}},
        "start_s": 1,
        "arrivals": {"kind": "poisson", "segments": [{"seconds": 1, "from_per_s": 500, "to_per_s": 500}]},
        "think_time": None,
        "transactions_per_connection": 0,
    }
    assert readers["options"] == {"access": "latest", "transactions": {"chart": 3, "dashboard": 1}}
    assert (readers["count"], readers["transactions_per_connection"]) == (4, 10)
    assert readers["think_time"] == {"kind": "constant", "mean_us": 2000}


def test_groups_are_read_again_as_the_same(tmp_path):
    first = read_experiment(written(tmp_path)).experiment
    again = tmp_path / "again.toml"
    again.write_text(to_toml(first))
    assert read_experiment(str(again)).experiment == first


def test_a_rate_that_a_workload_names_is_kept_and_the_rates_of_another_group_make_variants(tmp_path):
    both = GROUPS.replace("transactions_per_connection = 10\n", "rate = [7, 9]\n").replace("[1, 4]", "4")
    named = both.replace('"event-log"', '"event-log?writer_rate=500"').replace('think_time = "2ms"\n', "")
    experiment = read_experiment(written(tmp_path, named)).experiment
    names = [f"event-log?writer_rate=500&readers_rate={rate}" for rate in (7, 9)]
    assert list(map(str, experiment.workload)) == names
    groups = plans(experiment)[names[1], 6]["groups"]
    assert [group["arrivals"]["segments"][0]["to_per_s"] for group in groups] == [500, 9]


def test_numbers_and_rates_may_be_given_by_scale(tmp_path):
    sized = GROUPS.replace("[1, 4]", "{ small = 1, full = [2, 8] }").replace(
        "[100, 500]", "{ small = 5, full = [7, 9] }"
    )
    assert read_experiment(written(tmp_path, sized)).experiment.clients == [3]
    full = read_experiment(written(tmp_path, sized), {"scale": "full"}).experiment
    assert (full.clients, len(full.workload)) == ([4, 10], 2)


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ('["append"]', '["apend"]', "line 10: clients 'writer': .*no transaction 'apend'; did you mean 'append'"),
        ("dashboard = 1", "dashboard = 0", "line 18: clients.1.transactions.dashboard = 0"),
        ("chart = 3", "cart = 3", "line 18: clients 'readers': .*no transaction 'cart'"),
        ('["append"]', "3", "line 10: clients.0.transactions: give the names of transactions"),
        ("number = 2", "number = 0", "line 9: clients.0.number"),
        ("[1, 4]", "[1, 1]", "line 17: clients.1.number: give how many clients the group has, at least 1; each number"),
        ('["append"]', "[]", "line 8: .*clients 'writer': give at least one of 'transactions'"),
        ("[100, 500]", "[{ ramp = [1, 2], seconds = 2 }, 5]", "line 7: .*a list has constant rates"),
        ("number = 2", "numbr = 2", "line 9: there is no key 'clients.0.numbr'; did you mean 'number'"),
        ("number = 2", "number = [2, 3]", "line 17: clients 'readers': another group has a list"),
        ('name = "readers"\n', "", "line 15: the key 'clients.1.name' is missing"),
        ('"readers"', '"writer"', "clients 'writer': two groups have this name"),
        ('"readers"', '"chart"', "line 16: clients 'chart': .*a transaction or a statement of this name"),
        ('"readers"', '"Readers"', "line 16: clients.1.name: 'Readers': give a name of small letters"),
        ("[100, 500]", '"50%"', "line 11: clients.0.rate: 50% of capacity: a group has a rate per second"),
        ("[100, 500]", "0", "line 11: clients.0.rate: 0/s: a rate is above 0"),
        ("rate = [100, 500]\n", "", "line 8: .*clients 'writer': a closed loop has no arrivals"),
        ("start_seconds = 1", "think_time = 5", "line 8: .*clients 'writer': an open loop does not think"),
        ("start_seconds = 1", "start_seconds = 6", "line 8: clients 'writer': begins after 6 s, and a trial has 6 s"),
        ('"latest"', '"last"', "line 19: clients.1.access.kind = 'last'"),
        ("= 10\n", "= 0\n", "line 20: clients.1.transactions_per_connection = 0"),
        ('"2ms"', '"2m"', "think_time.mean: '2m' is not a time"),
        ('"2ms"', '{ kind = "even", mean = 5 }', "think_time.kind = 'even'"),
        ('"2ms"', "70000000", "70,000,000 µs: a think time is from 1 to"),
        ("seconds = 5\n", "seconds = 5\nrate = 5\n", "rate: each group of \\[\\[clients\\]\\] has its own"),
        ("seconds = 5\n", "seconds = 5\npipeline = 2\n", "pipeline: sends several requests at once, so clients"),
        ("seconds = 5\n", 'seconds = 5\nclient = "redis-py"\n', "clients: 'redis-py' does not do that"),
        ('"event-log"', '"event-log?writer_rate=7"', "option writer_rate = '7' of 'event-log': give one of 100, 500"),
        (
            '"event-log"',
            '["event-log?writer_rate=100", "event-log"]',
            "line 7: clients 'writer': 'event-log\\?writer_rate=100' names one of its rates, and 'event-log' none",
        ),
        ("seconds = 5\n", "seconds = 5\ngroups = []\n", "groups of clients are written as \\[\\[clients\\]\\]"),
    ],
)
def test_what_is_wrong_is_refused_with_its_line(right, wrong, said, tmp_path):
    assert right in GROUPS
    with pytest.raises(UserError, match=said):
        read_experiment(written(tmp_path, GROUPS.replace(right, wrong, 1)))


def test_each_variant_of_a_system_begins_its_groups_in_its_own_seconds(tmp_path):
    varied = GROUPS.replace("seconds = 5\n", "seconds = 5\nwarmup_seconds = [0, 3]\n", 1)
    varied = varied.replace("[100, 500]", "{ ramp = [100, 500], seconds = 2 }")
    experiment = read_experiment(written(tmp_path, varied)).experiment
    segments = []
    for system in experiment.system:
        document = plans(experiment.of(system))["event-log", 3]
        segments.append(document["groups"][0]["arrivals"]["segments"])
    ramp = {"seconds": 2, "from_per_s": 100, "to_per_s": 500}
    # The group begins in second 1, so 2 of 3 seconds of the longer warm-up are left.
    assert segments == [[ramp], [{"seconds": 2, "from_per_s": 100, "to_per_s": 100}, ramp]]
    again = tmp_path / "again.toml"
    again.write_text(to_toml(experiment))
    assert read_experiment(str(again)).experiment == experiment
    late = GROUPS.replace("seconds = 5\n", "seconds = [5, 2]\n", 1).replace("start_seconds = 1", "start_seconds = 4")
    with pytest.raises(UserError, match="clients 'writer': begins after 4 s, and a trial has 3 s"):
        read_experiment(written(tmp_path, late))


def test_a_number_of_clients_on_the_command_line_does_not_replace_groups(tmp_path):
    with pytest.raises(UserError, match="change 'number' in its \\[\\[clients\\]\\]"):
        read_experiment(written(tmp_path), {"clients": [8]})


@pytest.mark.parametrize(
    ("workload", "group", "said"),
    [
        ("point-get", 'transactions = ["get"]', "'point-get' has no transactions to choose from"),
        ("point-get", 'access = { kind = "zipfian", exponent = 1.2 }', "takes an access by its name"),
        ("tpcc", 'access = "zipfian"', "'tpcc' chooses no rows"),
        ("durability", "", "'durability' is not run by clients"),
    ],
)
def test_a_built_in_workload_has_groups_that_differ_in_access_alone(workload, group, said, tmp_path):
    file = tmp_path / "mine.toml"
    head = f'workload = "{workload}"\nsystem = "sqlite"\nrows = 9\nseconds = 1\n'
    file.write_text(f'{head}[[clients]]\nname = "a"\n{group}\n')
    with pytest.raises(UserError, match=said):
        read_experiment(str(file))


@pytest.mark.parametrize("key", ["think_time = 5", "transactions_per_connection = 5"])
def test_pauses_and_connections_are_of_clients_of_the_load_client(key, tmp_path):
    file = tmp_path / "mine.toml"
    head = f'workload = "point-get"\nsystem = "redis"\nrows = 9\nseconds = 1\nclients = 2\n{key}\n'
    file.write_text(head)
    plan = next(iter(plans(read_experiment(str(file)).experiment).values()))
    assert plan.get("think_time") == {"kind": "constant", "mean_us": 5} or plan["transactions_per_connection"] == 5
    name = key.split()[0]
    file.write_text(head + 'client = "redis-py"\n')
    with pytest.raises(UserError, match=f"{name}: 'redis-py' does not do that"):
        read_experiment(str(file))
    file.write_text(head.replace("point-get", "durability").replace("clients = 2", "clients = 1"))
    with pytest.raises(UserError, match=f"{name}: 'durability' is not run"):
        read_experiment(str(file))


def test_one_of_several_connections_that_is_not_kept_is_refused_of_a_client_library(tmp_path):
    file = tmp_path / "mine.toml"
    head = 'workload = "point-get"\nsystem = "redis"\nclient = "redis-py"\nrows = 9\nseconds = 1\nclients = 2\n'
    file.write_text(f"{head}transactions_per_connection = 0\n")
    assert read_experiment(str(file)).experiment.transactions_per_connection == 0
    file.write_text(f"{head}transactions_per_connection = [0, 5]\n")
    with pytest.raises(UserError, match="transactions_per_connection: 'redis-py' does not do that"):
        read_experiment(str(file))


def test_an_open_loop_does_not_think(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(
        'workload = "game"\nsystem = "redis"\nrows = 9\nseconds = 1\nclients = 2\nrate = 9\nthink_time = 5\n'
    )
    with pytest.raises(UserError, match="think_time: an open loop begins each transaction"):
        read_experiment(str(file))
