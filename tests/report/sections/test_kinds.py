"""Transactions of several kinds are shown as such."""

import io

from rich.console import Console

from dbdyno.report.sections.kinds import kinds_of, print_kinds

TIMES = {"mean": 900.0, "p50": 800.0, "p95": 4000.0, "p99": 9000.0, "p999": None, "max": 9500.0}


def trial(operations):
    return {
        "label": "store [1]",
        "clients": 16,
        "rate": None,
        "operations": operations,
        "transaction": {"service_time_us": TIMES},
    }


def operation(kind, **more):
    return {"operation": kind, "count": 10, "service_time_us": TIMES} | more


def printed(trials):
    file = io.StringIO()
    print_kinds(trials, Console(file=file, width=100))
    return file.getvalue()


def test_only_what_stands_for_whole_transactions_is_a_kind():
    operations = {
        "new_order": operation("transaction", per_minute=600.0),
        "payment": operation("transaction", per_minute=590.0),
        "never": operation("transaction", per_minute=0.0),
        "unused": operation("transaction"),
        "read_item": operation("sql"),
    }
    assert list(kinds_of(trial(operations))) == ["new_order", "payment"]


def test_a_single_kind_is_all_transactions():
    kinds = {"reads": operation("transaction", per_minute=0.0), "writes": operation("transaction", per_minute=600.0)}
    assert kinds_of(trial(kinds)) == {}


def test_a_row_has_how_many_of_the_first_a_minute_and_the_times_of_each():
    operations = {
        "new_order": operation("transaction", per_minute=12_345.6),
        "stock_level": operation("transaction", per_minute=7.0),
        "read_item": operation("sql"),
    }
    text = printed([trial(operations)])
    assert "store [1]" in text and "12,346" in text
    assert "read_item" not in text
    assert text.count("0.8/9.00") == 2


def test_nothing_is_printed_where_all_are_of_one_kind():
    assert printed([trial({"get": operation("get")})]) == ""
