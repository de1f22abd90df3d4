"""A plan is read, and what sysbench does not do is refused."""

import io
import json

import pytest

from dbdyno.load_python.failure import Ended
from dbdyno.load_sysbench.plan import read_plan
from load_sysbench.conftest import STORE, plan_of


def read(plan, secrets="\n"):
    return read_plan(io.StringIO(f"{json.dumps(plan)}\n{secrets}"))


def test_a_plan():
    store = STORE | {"password": {"secret": 0}, "protocol": "text"}
    plan = read(plan_of(store, script="mine.lua", sysbench="--skip-trx --x='a b'"), '{"secrets": ["p"]}\n')
    assert (plan.script, plan.password, plan.clients) == ("mine.lua", "p", 2)
    assert plan.given == ("--db-ps-mode=disable", "--skip-trx", "--x=a b")
    assert not plan.prewarm and read(plan_of(STORE, prewarm="yes")).prewarm
    assert read(plan_of(STORE)).script == "oltp_read_write"


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"store": STORE | {"kind": "redis"}}, "no driver for a store of the kind redis"),
        ({"store": STORE | {"tls": {"verify": "nothing"}}}, "without TLS"),
        ({"store": STORE | {"access": "handler"}}, "leave access=handler out"),
        ({"arrivals": {}}, "closed loop"),
        ({"pipeline": 2}, "closed loop"),
        ({"contract": 2}, "contract 2 is not 1"),
        ({"store": {}}, "'kind' is missing"),
    ],
)
def test_what_it_does_not_do_is_refused(more, why):
    with pytest.raises(Ended, match=why) as refused:
        read(plan_of(STORE) | more)
    assert refused.value.status == "refused"
