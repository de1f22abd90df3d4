"""The access of an own workload, by name or with parameters, and what is refused of it."""

import pytest
from pydantic import BaseModel, ValidationError

from dbdyno.experiment.access import NamedAccess


class Has(BaseModel):
    access: NamedAccess


@pytest.mark.parametrize(
    "written",
    [
        "zipfian",
        {"kind": "zipfian", "exponent": 0.99, "scrambled": True},
        {"kind": "latest", "exponent": 1.2},
        {"kind": "hot-set", "rows": 0.01, "choices": 0.9},
        {"kind": "uniform", "subset": 0.1, "moves": 0.5},
    ],
)
def test_an_access_is_written_as_it_was_read(written):
    assert Has(access=written).model_dump(exclude_none=True) == {"access": written}


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("zipf", "'zipfian'"),
        ({"kind": "zipfian", "exponent": 3.01}, "less than or equal to 3"),
        ({"kind": "hot-set", "rows": 0}, "greater than 0"),
        ({"kind": "uniform", "subset": 1.5}, "less than or equal to 1"),
        ({"kind": "uniform", "exponent": 0.5}, "'uniform' does not take exponent"),
        ({"kind": "latest", "moves": 1}, "'latest' does not take moves"),
        ({"kind": "zipfian", "theta": 0.99}, "Extra inputs"),
    ],
)
def test_what_is_no_access_is_refused(written, said):
    with pytest.raises(ValidationError, match=said):
        Has(access=written)
