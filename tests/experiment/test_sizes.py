"""Distributions of sizes are read and written, their means known, and parameters outside their domain refused."""

import pytest
from pydantic import BaseModel, ValidationError

from dbdyno.experiment.sizes import Sized


class Has(BaseModel):
    size: Sized


REST = {"kind": "pareto", "location": 15.0, "scale": 200.0, "shape": 0.5}


@pytest.mark.parametrize(
    ("written", "mean"),
    [
        (100.0, 100),
        ({"kind": "uniform", "from": 1.0, "to": 100.0}, 50.5),
        ({"kind": "table", "sizes": [[2.0, 0.5], [4.0, 0.5]]}, 3),
        (REST, 415),
        ({"kind": "table", "sizes": [[2.0, 0.5]], "otherwise": REST}, 1 + 415 / 2),
        ({"kind": "gev", "location": 10.0, "scale": 2.0, "shape": 0.0}, 10 + 2 * 0.57721),
        ({"kind": "gev", "location": 10.0, "scale": 2.0, "shape": 0.5}, 10 + 4 * (3.14159265**0.5 - 1)),
        ({"kind": "log-normal", "median": 128.0, "sigma": 1.0}, 128 * 2.718281828**0.5),
    ],
)
def test_sizes_are_written_as_they_were_read_and_have_their_mean(written, mean):
    has = Has(size=written)
    assert has.model_dump() == {"size": written}
    assert has.size.mean == pytest.approx(mean, rel=1e-4)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (-1, "greater than or equal to 0"),
        ({"kind": "normal"}, "'log-normal'"),
        ({"kind": "uniform", "from": 3}, "'uniform' need to"),
        ({"kind": "uniform", "from": 3, "to": 2}, "from = 3 is above to = 2"),
        ({"kind": "gev", "location": 1, "scale": 0, "shape": 0}, "greater than 0"),
        ({"kind": "gev", "location": 1, "scale": 1, "shape": 9}, "less than or equal to 5"),
        ({**REST, "median": 2}, "'pareto' do not take median"),
        ({**REST, "otherwise": REST}, "do not take otherwise"),
        ({"kind": "table", "sizes": [[1, 0.5]]}, "add up to 0.5 and not to 1"),
        ({"kind": "table", "sizes": [[1, 1.0]], "otherwise": REST}, "nothing is left"),
        ({"kind": "table", "sizes": [[1, 0.0], [2, 1.0]]}, "with its share"),
    ],
)
def test_what_are_no_sizes_is_refused(written, said):
    with pytest.raises(ValidationError, match=said):
        Has(size=written)
