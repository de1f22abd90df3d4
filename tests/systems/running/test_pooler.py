"""Every pooler stores nothing, and refuses settings that its file cannot have."""

import pytest

from dbdyno.errors import UserError
from dbdyno.experiment.system_spec import parse_system
from dbdyno.systems import PARTS
from dbdyno.systems.running.pooler import Pooler


@pytest.fixture(params=["pgbouncer", "proxysql"])
def make(request):
    def build_pooler(settings=""):
        return PARTS[request.param](parse_system(request.param + settings))

    return build_pooler


def test_it_stores_nothing(make):
    pooler = make()
    assert isinstance(pooler, Pooler) and not pooler.operations
    assert pooler.durability().level == "unknown"
    with pytest.raises(NotImplementedError):
        pooler.store_plan([])


def test_a_name_that_its_file_of_settings_cannot_have_is_refused(make):
    with pytest.raises(UserError, match="'pool-mode' is not a setting of P"):
        make("?pool-mode=1")
