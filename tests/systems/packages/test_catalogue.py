"""Rules for every package that is offered."""

import re

import pytest

from dbdyno.errors import UserError
from dbdyno.systems import SYSTEMS
from dbdyno.systems.packages.catalogue import PACKAGES, find_package


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_is_pinned_and_belongs_to_a_system(name):
    package = PACKAGES[name]
    assert package.name == name and package.system in SYSTEMS
    assert package.release.startswith(package.version)
    assert re.fullmatch("[0-9a-f]{64}", package.sha256) and package.size_bytes > 1_000_000
    assert package.client in ("mvn", "npm", "pip", "go")


def test_a_package_that_is_none_is_refused_with_those_there_are():
    with pytest.raises(UserError, match=r"no version 'mysql@5.8'; did you mean .* There are .*mysql@5.6"):
        find_package("mysql@5.8")
