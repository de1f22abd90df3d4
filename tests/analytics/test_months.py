"""How rows are shared among months."""

from datetime import date

import pytest

from dbdyno.analytics.months import Month, last_month, plan_months


@pytest.mark.parametrize("rows", [1, 999, 1_000_000])
def test_rows_add_up(rows):
    months = plan_months(rows, (2026, 10))
    assert sum(month.rows for month in months) == rows
    assert all(month.rows > 0 for month in months)


def test_months_rise_from_october_1987_to_the_last_without_a_gap():
    months = plan_months(1_000_000, (1989, 2))
    assert [(month.year, month.month) for month in months] == [
        *((1987, month) for month in (10, 11, 12)),
        *((1988, month) for month in range(1, 13)),
        *((1989, month) for month in (1, 2)),
    ]


def test_traffic_follows_the_real_one():
    rows = {(month.year, month.month): month.rows for month in plan_months(10_000_000, (2026, 10))}
    year_2007, year_1988 = (sum(rows[year, month] for month in range(1, 13)) for year in (2007, 1988))
    assert 1.3 < year_2007 / year_1988 < 1.5
    assert rows[2020, 5] < rows[2019, 5] / 2
    assert rows[2007, 2] < rows[2007, 8]


def test_the_last_whole_month():
    assert last_month(date(2026, 11, 21)) == (2026, 10)
    assert last_month(date(2026, 1, 1)) == (2025, 12)


def test_a_month_knows_its_days():
    assert Month(2008, 2, 1).days == 29
