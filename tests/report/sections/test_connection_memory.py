"""Memory for a connection is a slope between idle clients; what else a trial does is no such figure."""

from io import StringIO

import pytest
from rich.console import Console

from dbdyno.report.sections.connection_memory import connection_memory, per_connection, print_costs

IDLE = {"pace": {"think_time": "always 60 s", "transactions_per_connection": None}, "state": "complete"}


def trial(clients, *private, repeat=1, **more):
    processes = [{"process": f"server-{index}", "private_bytes": value} for index, value in enumerate(private)]
    client = {"process": "client", "private_bytes": 1 << 30}
    about = {"label": "mariadb", "clients": clients, "repeat": repeat, "transactions": clients}
    return IDLE | about | {"processes": [client, *processes]} | more


def test_it_is_the_slope_of_all_servers_between_fewest_and_most_clients():
    few, some, many = trial(1, 1000, 500), trial(11, 1700, 550), trial(101, 9000, 2500)
    assert connection_memory([few, some, many]) == [
        {
            "label": "mariadb",
            "fewest_clients": 1,
            "most_clients": 101,
            "bytes": 100,
            "lowest": 100,
            "highest": 100,
            "repetitions": 1,
        }
    ]


def test_of_repetitions_it_has_the_median_and_the_range():
    trials = [trial(1, 1000, repeat=repeat) for repeat in (1, 2, 3)]
    trials += [trial(11, 1000 + 10 * slope, repeat=repeat) for repeat, slope in ((1, 200), (2, 100), (3, 160))]
    (cost,) = connection_memory(trials)
    assert (cost["bytes"], cost["lowest"], cost["highest"], cost["repetitions"]) == (160, 100, 200, 3)
    (sentence,) = per_connection([cost])
    assert sentence == "mariadb takes 160 B (100 B to 200 B) of memory for each of 10 idle connections."


@pytest.mark.parametrize(
    "more",
    [
        {"transactions": 12},
        {"pace": {"think_time": None, "transactions_per_connection": 1}},
        {"pace": None},
        {"state": "failed"},
        {"processes": [{"process": "client", "private_bytes": 5}]},
        {"processes": [{"process": "mariadb", "private_bytes": None}]},
    ],
)
def test_what_is_not_idle_or_not_observed_has_none(more):
    assert connection_memory([trial(1, 1000), trial(11, 2000, **more)]) == []


def test_one_number_of_clients_has_no_slope():
    assert connection_memory([trial(8, 1000), trial(8, 1100, repeat=2)]) == []


def test_the_least_comes_first():
    costs = connection_memory(
        [trial(1, 1000), trial(11, 3000), trial(1, 1000, label="redis"), trial(11, 1100, label="redis")]
    )
    assert [sentence.split()[0] for sentence in per_connection(costs)] == ["redis", "mariadb"]


def test_a_table_has_the_range_of_the_repetitions():
    both = [trial(1, 1000), trial(11, 3000), trial(1, 1000, label="redis"), trial(11, 1100, label="redis")]
    costs = connection_memory(both)
    out = StringIO()
    assert print_costs(costs, Console(file=out, width=80))
    assert [line.split() for line in out.getvalue().splitlines()[1:]] == [
        ["redis", "1", "and", "11", "10.0", "B", "10.0", "B", "10.0", "B"],
        ["mariadb", "1", "and", "11", "200", "B", "200", "B", "200", "B"],
    ]
    assert not print_costs([], Console(file=out))
