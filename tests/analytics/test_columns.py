"""The columns are those of the real files."""

from dbdyno.analytics.columns import COLUMNS, EARLIER_NAMES


def test_there_are_109_columns_each_of_its_own_name():
    assert len(COLUMNS) == len({column.name for column in COLUMNS}) == 109


def test_the_columns_stand_where_the_real_files_have_them():
    places = {column.name: number for number, column in enumerate(COLUMNS, 1)}
    # Counted in the header of a real file.
    known = {"Year": 1, "Origin": 15, "DestWac": 29, "DepDelay": 32, "TaxiOut": 37, "ArrDelayMinutes": 44}
    known |= {"Cancelled": 48, "Distance": 55, "FirstDepTime": 62, "Div1Airport": 70, "Div5TailNum": 109}
    assert {name: places[name] for name in known} == known


def test_earlier_names_are_of_columns_that_there_are():
    names = {column.name for column in COLUMNS}
    assert set(EARLIER_NAMES.values()) <= names
    assert not set(EARLIER_NAMES) & names
