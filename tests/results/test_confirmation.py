"""`confirmation.json` is written and read as one thing, also if nothing could be tried."""

import json

import pytest

from dbdyno.errors import UserError
from dbdyno.results.confirmation import Confirmation, Followed
from dbdyno.results.read import read_trial
from synthetic_run import SYSTEMS, write_run

TRIED = Confirmation("server-cpu", 0.2, Followed("0.80 of 1.00 processors left", 10_000.0, 8_100.0, 0.95))


@pytest.mark.parametrize("confirmation", [TRIED, Confirmation("disk", 0.2, None, why_not="no device")])
def test_what_is_written_is_read_back(confirmation):
    assert Confirmation.read(json.loads(json.dumps(confirmation.document()))) == confirmation


def test_what_was_not_tried_has_no_figures():
    assert Confirmation("disk", 0.2, None, why_not="no device").document().keys() == {"limit", "taken", "why_not"}


def test_nonsense_is_refused_with_the_name_of_its_file(tmp_path):
    (folder,) = write_run(tmp_path / "run", SYSTEMS[2:3], (4,)).glob("trials/*")
    (folder / "confirmation.json").write_text('{"limit": "disk", "taken": 0.2}')
    with pytest.raises(UserError, match=r"confirmation\.json: cannot be understood"):
        read_trial(folder)
