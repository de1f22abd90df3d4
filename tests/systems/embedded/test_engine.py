"""Every engine's plan is as the contract has it, and every value of its `sync` has a durability class."""

import pytest
from jsonschema import Draft202012Validator

from contract_schema import SCHEMA
from dbdyno.systems import SYSTEMS
from dbdyno.systems.embedded.engine import Engine
from helpers import need, system

ENGINES = [name for name, known in SYSTEMS.items() if issubclass(known, Engine)]


@pytest.mark.parametrize("name", ENGINES)
def test_the_plan_is_as_the_contract_has_it(launch, name):
    need(name)
    engine = system(name)
    engine.start(launch)
    plan = engine.store_plan([])
    engine.stop()
    Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": SCHEMA["$defs"]}).validate(plan)
    assert plan["kind"] == name and plan.items() >= engine.settings().items()


@pytest.mark.parametrize("name", ENGINES)
def test_durability_follows_from_sync(name):
    levels = SYSTEMS[name].levels
    assert tuple(levels) == SYSTEMS[name].choices["sync"]
    assert set(levels.values()) <= {"D0", "D1", "D2"} and levels["full"] == "D2"
