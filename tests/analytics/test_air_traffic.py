"""The flights' options: which files, up to which month."""

import pytest

from dbdyno.analytics.air_traffic import AirTraffic
from dbdyno.analytics.flights import write_file
from dbdyno.analytics.months import Month
from dbdyno.errors import UserError


def test_generated_flights_end_with_the_month_asked_for(tmp_path):
    analysis = AirTraffic({"until": "1988-01"})
    assert analysis.source(100, 3) == "generated, 1987-10 to 1988-01, seed 3"
    (batch,) = analysis.files(100, 3, tmp_path, print)
    assert sum(count for _, count in batch) == 100


def test_files_of_ones_own_are_the_source(tmp_path):
    own, scratch = tmp_path / "own", tmp_path / "scratch"
    own.mkdir()
    scratch.mkdir()
    write_file(own / "a.csv", 1, [Month(1990, 7, 20)])
    analysis = AirTraffic({"csv": str(own)})
    assert analysis.source(100, 3) == str(own)
    assert [count for batch in analysis.files(100, 3, scratch, print) for _, count in batch] == [20]


@pytest.mark.parametrize("options", [{"until": "2009"}, {"until": "1980-01"}, {"csv": "nowhere"}])
def test_a_source_that_is_none_is_refused(options):
    with pytest.raises(UserError, match=next(iter(options.values()))):
        AirTraffic(options)
