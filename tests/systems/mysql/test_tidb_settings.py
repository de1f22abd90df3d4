"""TiDB is known by its version, and what it lacks is refused, whoever started it."""

import pytest

from dbdyno.errors import UserError
from dbdyno.experiment.system_spec import parse_system, with_labels
from dbdyno.systems.mysql.tidb_settings import is_tidb, refuse_what_it_lacks


@pytest.mark.parametrize(
    ("version", "it_is"),
    [("8.0.11-TiDB-v8.4.0-alpha", True), ("5.7.25-TiDB-v7.1.0", True), ("10.11.6-MariaDB", False), ("8.0.31", False)],
)
def test_it_is_known_by_its_version(version, it_is):
    assert is_tidb(version) is it_is


@pytest.mark.parametrize("setting", ["engine=InnoDB", "access=handler"])
def test_what_it_lacks_is_refused(setting):
    for text in (f"tidb?{setting}", f"mysql://u@h/d?{setting}"):
        (spec,) = with_labels([parse_system(text)])
        with pytest.raises(UserError, match=f"'{setting.partition('=')[0]}' cannot be set: TiDB"):
            refuse_what_it_lacks(spec)
    refuse_what_it_lacks(parse_system("mysql://u@h/d?protocol=text"))
