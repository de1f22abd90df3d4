"""Nodes given by their URLs, as one store."""

import pytest

from dbdyno.errors import UserError
from helpers import system


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("spread(mysql://u@h/d)", "takes two nodes"),
        ("spread(mariadb, mariadb)", "given by URL"),
        ("spread(mysql://u@h/d, redis://h)", "given by URL"),
        ("spread(mysql://u@h/d, postgresql://u@h/d)", "of one scheme"),
        ("spread(mysql://u@h/d, mysql://u@i/d)?write=one", "settings follow the URL of a node"),
    ],
)
def test_what_cannot_be_nodes_of_one_cluster_is_refused(text, said):
    with pytest.raises(UserError, match=said):
        system(text)


def test_clients_are_divided_among_all_nodes():
    spread = system("spread(mysql://u:one@h/d, mysql://u:two@i/d)")
    secrets = []
    plan = spread.store_plan(secrets)
    assert (plan["kind"], plan["own_nodes"], secrets) == ("spread", 2, ["one", "two"])
    assert [node["address"]["host"] for node in plan["nodes"]] == ["h", "i"]
    assert spread.spec.attached and spread.server_pids() == {} and spread.data_directories() == ()
